// Generators that fail, each in its own way and at its own time. The comment above each says which and when.
#include <Halide.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using Halide::Internal::Call;

// One input, one output of the same size: what they have in common.
template <typename Derived>
class Map : public Halide::Generator<Derived> {
 public:
  template <typename T>
  using Input = Halide::GeneratorInput<T>;
  template <typename T>
  using Output = Halide::GeneratorOutput<T>;

  Input<Halide::Buffer<float, 1>> input{"input"};
  Output<Halide::Buffer<float, 1>> output{"output"};

  void estimates() {
    input.set_estimates({{0, 4096}});
    output.set_estimates({{0, 4096}});
  }

  Halide::Var x{"x"};
};

// Runs: reads 2^30 elements (4 GiB) past its input. The promise hides it from the bounds query, so the kernel starts and ends in SIGSEGV.
class SegfaultAtRun : public Map<SegfaultAtRun> {
 public:
  void generate() {
    const Halide::Expr far = Halide::Internal::Call::make(Halide::Int(32), Call::unsafe_promise_clamped, {x + (1 << 30), 0, 0}, Call::PureIntrinsic);
    output(x) = input(x) + input(far);
  }
  void schedule() { estimates(); }
};

// Runs: each element is the sum of 2^60 terms that no optimiser can shorten; ends after centuries.
class EndlessAtRun : public Map<EndlessAtRun> {
 public:
  void generate() {
    Halide::RDom r(0, 1 << 30, 0, 1 << 30, "r");
    Halide::Func total("total");
    total(x) = input(x);
    total(x) = Halide::sin(total(x) + Halide::cast<float>(r.x ^ r.y));
    output(x) = total(x);
  }
  void schedule() { estimates(); }
};

// Compiles: calls an intrinsic of another machine. LLVM cannot select an instruction for it and ends the process with abort().
class AbortAtCompile : public Map<AbortAtCompile> {
 public:
  void generate() { output(x) = Call::make(Halide::Float(32), "llvm.nvvm.ex2.approx.ftz.f", {input(x)}, Call::PureExtern); }
  void schedule() { estimates(); }
};

// Read: a chain of 200,000 additions in one expression; Halide walks it recursively when the Func is defined. Ends in SIGSEGV inside generate().
class StackOverflowAtRead : public Map<StackOverflowAtRead> {
 public:
  void generate() {
    Halide::Expr sum = input(x);
    for (int i = 0; i < 200000; ++i) sum = sum + static_cast<float>(i);
    output(x) = sum;
  }
  void schedule() { estimates(); }
};

// Checked: its author's schedule vectorises a scan and calls it free of races, so own_schedule() adds stale elements: wrong sums, the same each
// time. The algorithm itself is right.
class WrongResult : public Map<WrongResult> {
 public:
  void generate() {
    r = Halide::RDom(1, input.dim(0).extent() - 1, "r");
    scan(x) = input(x);
    scan(r) = scan(r) + 0.5f * scan(r - 1);
    output(x) = scan(x);
  }
  void schedule() {
    estimates();
    scan.compute_root();
    scan.update().allow_race_conditions().vectorize(r, 8);
  }

 private:
  Halide::RDom r;
  Halide::Func scan{"scan"};
};

// Checked: the same mistake, and half is taken from the stale zeros: own_schedule() gives NaN where the reference has numbers. (A root: 0/0 is folded
// into something else by compilers that may assume numbers.)
class NanBySchedule : public Map<NanBySchedule> {
 public:
  void generate() {
    r = Halide::RDom(1, input.dim(0).extent() - 1, "r");
    scan(x) = Halide::select(x == 0, Halide::abs(input(0)) + 1.0f, 0.0f);
    scan(r) = scan(r - 1);
    output(x) = Halide::sqrt(scan(x) - 0.5f);
  }
  void schedule() {
    estimates();
    scan.compute_root();
    scan.update().allow_race_conditions().vectorize(r, 8);
  }

 private:
  Halide::RDom r;
  Halide::Func scan{"scan"};
};

// Checked: every element is not a number, in the reference too, so it passes: this is what was asked for.
class NanResult : public Map<NanResult> {
 public:
  void generate() { output(x) = Halide::sqrt(-1.0f - Halide::abs(input(x))); }
  void schedule() { estimates(); }
};

// Read: prints 64 MiB to stdout and stderr from generate(), then works. Whoever reads must neither keep it all nor block.
class ChattyGenerate : public Map<ChattyGenerate> {
 public:
  void generate() {
    const std::string line(1023, '#');
    for (int i = 0; i < 32 * 1024; ++i) {
      std::printf("%s\n", line.c_str());
      std::fprintf(stderr, "%s\n", line.c_str());
    }
    output(x) = input(x) + 1.0f;
  }
  void schedule() { estimates(); }
};

// Read: prints to stdout for ever, in generate(), without building anything.
class EndlessOutput : public Map<EndlessOutput> {
 public:
  void generate() {
    for (volatile bool forever = true; forever;) std::puts("still generating");
    output(x) = input(x);
  }
};

// Read: generate() throws a standard exception.
class ThrowsInGenerate : public Map<ThrowsInGenerate> {
 public:
  void generate() { throw std::runtime_error("the table of weights is empty"); }
};

// Read: generate() makes a mistake that Halide reports: an update before any definition.
class HalideErrorInGenerate : public Map<HalideErrorInGenerate> {
 public:
  void generate() {
    Halide::Func undefined("undefined");
    output(x) = undefined(x) + input(x);
  }
};

// Read: generate() throws something that is no exception at all.
class ThrowsNumber : public Map<ThrowsNumber> {
 public:
  void generate() { throw 42; }
};

// Read: schedule() throws after the algorithm is complete. It can be tuned; only its own schedule is missing.
class ThrowsInSchedule : public Map<ThrowsInSchedule> {
 public:
  void generate() { output(x) = input(x) * 2.0f; }
  void schedule() {
    estimates();
    throw std::logic_error("no schedule for this machine");
  }
};

// Read: generate() never ends, and sleeps meanwhile.
class NeverGenerates : public Map<NeverGenerates> {
 public:
  void generate() {
    for (volatile bool forever = true; forever;) std::this_thread::sleep_for(std::chrono::seconds(1));
    output(x) = input(x);
  }
};

// Read: a different algorithm when it is autoscheduled, so its own schedule belongs to something else.
class TwoFaced : public Map<TwoFaced> {
 public:
  void generate() { output(x) = input(x) * (using_autoscheduler() ? 2.0f : 3.0f); }
  void schedule() {
    estimates();
    output.vectorize(x, 8, Halide::TailStrategy::GuardWithIf);
  }
};

// Read: three things that cannot be kept as an algorithm.
class UsesExtern : public Map<UsesExtern> {
 public:
  void generate() {
    Halide::Func outside("outside");
    outside.define_extern("a_function_of_the_application", {}, Halide::Float(32), 1);
    output(x) = outside(x) + input(x);
  }
};
class UsesMemoize : public Map<UsesMemoize> {
 public:
  void generate() {
    Halide::Func slow("slow");
    slow(x) = input(x);
    output(x) = slow(x);
    slow.compute_root().memoize();
  }
};
class UsesAsync : public Map<UsesAsync> {
 public:
  void generate() {
    Halide::Func ahead("ahead");
    ahead(x) = input(x);
    output(x) = ahead(x);
    ahead.compute_root().async();
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SegfaultAtRun, segfault_at_run)
HALIDE_REGISTER_GENERATOR(EndlessAtRun, endless_at_run)
HALIDE_REGISTER_GENERATOR(AbortAtCompile, abort_at_compile)
HALIDE_REGISTER_GENERATOR(StackOverflowAtRead, stack_overflow_at_read)
HALIDE_REGISTER_GENERATOR(WrongResult, wrong_result)
HALIDE_REGISTER_GENERATOR(NanResult, nan_result)
HALIDE_REGISTER_GENERATOR(NanBySchedule, nan_by_schedule)
HALIDE_REGISTER_GENERATOR(ChattyGenerate, chatty_generate)
HALIDE_REGISTER_GENERATOR(EndlessOutput, endless_output)
HALIDE_REGISTER_GENERATOR(ThrowsInGenerate, throws_in_generate)
HALIDE_REGISTER_GENERATOR(HalideErrorInGenerate, halide_error_in_generate)
HALIDE_REGISTER_GENERATOR(ThrowsNumber, throws_number)
HALIDE_REGISTER_GENERATOR(ThrowsInSchedule, throws_in_schedule)
HALIDE_REGISTER_GENERATOR(NeverGenerates, never_generates)
HALIDE_REGISTER_GENERATOR(TwoFaced, two_faced)
HALIDE_REGISTER_GENERATOR(UsesExtern, uses_extern)
HALIDE_REGISTER_GENERATOR(UsesMemoize, uses_memoize)
HALIDE_REGISTER_GENERATOR(UsesAsync, uses_async)
