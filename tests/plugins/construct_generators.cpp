// One generator for each construct that reading and rebuilding must carry, and one whose every variant computes something else.
#include <Halide.h>

namespace {

using namespace Halide;

// A Tuple output: the largest element of each row and where it is.
class TupleArgmax : public Generator<TupleArgmax> {
 public:
  Input<Buffer<float, 2>> input{"input"};
  Output<Func> best{"best", {Float(32), Int(32)}, 1};
  void generate() {
    Var y("y");
    RDom r(0, input.width(), "r");
    best(y) = Tuple(-1000.0f, -1);
    const Expr better = input(r, y) > best(y)[0];
    best(y) = Tuple(select(better, input(r, y), best(y)[0]), select(better, r, best(y)[1]));
    best.set_estimate(y, 0, 32);
  }
};

// Arrays of buffers and of scalars, two outputs of different rank, one of them an array.
class Arrays : public Generator<Arrays> {
 public:
  Input<Buffer<float, 2>[2]> planes{"planes"};
  Input<float[2]> weights{"weights"};
  Output<Buffer<float, 2>> mixed{"mixed"};
  Output<Buffer<float, 1>[2]> rows{"rows"};
  void generate() {
    Var x("x"), y("y");
    mixed(x, y) = planes[0](x, y) * weights[0] + planes[1](x, y) * weights[1];
    for (int i = 0; i < 2; ++i) {
      RDom r(0, planes[i].dim(0).extent());
      rows[i](y) = sum(planes[i](r, y));
    }
    mixed.set_estimates({{0, 32}, {0, 16}});
  }
};

// Three updates: a scan, a scatter with a predicate, a diagonal.
class Updates : public Generator<Updates> {
 public:
  Input<Buffer<float, 2>> input{"input"};
  Output<Buffer<float, 2>> output{"output"};
  void generate() {
    Var x("x"), y("y");
    RDom scan(1, input.width() - 1, "scan"), r(0, input.width(), 0, input.height(), "r"), d(0, min(input.width(), input.height()));
    Func f("f");
    f(x, y) = input(x, y);
    f(scan, y) += f(scan - 1, y) * 0.25f;
    r.where(r.x + r.y < 20 && input(r.x, r.y) > 0.0f);
    f((r.x * 7) % input.width(), r.y) += 1.0f;
    f(d, d) = 0.0f;
    output(x, y) = f(x, y);
  }
};

// Rounding points: bf16 in, f16 between, f32 sums, bf16 out.
class Halves : public Generator<Halves> {
 public:
  Input<Buffer<bfloat16_t, 1>> a{"a"};
  Input<Buffer<float16_t, 1>> b{"b"};
  Output<Buffer<bfloat16_t, 1>> output{"output"};
  void generate() {
    Var x("x");
    Func product("product");
    product(x) = cast<float16_t>(cast<float>(a(x)) * cast<float>(b(x)));
    output(x) = cast<bfloat16_t>(cast<float>(product(x)) + 0.1f);
  }
};

// A table that the generator holds, a boundary condition, equal names, and everything that Halide names itself.
class Names : public Generator<Names> {
 public:
  GeneratorParam<int> entry{"entry", 3};
  Input<Buffer<uint8_t, 1>> input{"input"};
  Output<Buffer<int32_t, 1>> output{"output"};
  void generate() {
    Buffer<int32_t> table(256, "table");
    for (int i = 0; i < 256; ++i) table(i) = i * i % 251 + (i == 7 ? static_cast<int>(entry) : 0);
    const Func bounded = BoundaryConditions::mirror_image(input);
    Func first("blur"), second("blur"), f1("f1"), unnamed;
    Var x("x"), v;
    first(x) = cast<int32_t>(bounded(x - 1)) + bounded(x + 1);
    second(x) = first(x - 1) + first(x + 1);
    f1(x) = second(x) + table(input(x));
    unnamed(v) = f1(v) * 2;
    RDom r(0, 3);
    output(x) = sum(unnamed(x + r));
  }
};

// A schedule with a bit of everything that Halide's serializer must keep.
class Scheduled : public Generator<Scheduled> {
 public:
  Input<Buffer<float, 2>> input{"input"};
  Output<Buffer<float, 2>> output{"output"};
  void generate() {
    twice(x, y) = input(x, y) * 2.0f;
    r = RDom(0, 64, "r");
    total(y) += twice(r, y);
    output(x, y) = twice(x, y) + total(y);
  }
  void schedule() {
    Var xo("xo"), xi("xi"), u("u");
    RVar ro("ro"), ri("ri");
    output.specialize(input.dim(0).extent() >= 64).split(x, xo, xi, 16, TailStrategy::GuardWithIf).vectorize(xi, 8).unroll(xi);
    output.parallel(y);
    twice.in(output).compute_at(output, y).store_in(MemoryType::Stack).bound_extent(x, 64);
    total.compute_root();
    total.update().split(r, ro, ri, 8).rfactor(ro, u).compute_root().vectorize(u, 4);
  }

 private:
  Var x{"x"}, y{"y"};
  RDom r;
  Func twice{"twice"}, total{"total"};
};

// Refuses some calls.
class Requires : public Generator<Requires> {
 public:
  Input<Buffer<float, 1>> input{"input"};
  Input<int> step{"step", 1};
  Output<Buffer<float, 1>> output{"output"};
  void generate() {
    Var x("x");
    add_requirement(step > 0, "step must be positive");
    output(x) = input(x * step / step);
  }
};

// Leaves its type and rank to the caller.
class Open : public Generator<Open> {
 public:
  Input<Buffer<>> input{"input"};
  Output<Buffer<>> output{"output"};
  void generate() { output(_) = input(_) + cast(input.type(), 1); }
};

// Mathematics in f32, for the reference: what is widened to f64, and what keeps its type.
class Mathematics : public Generator<Mathematics> {
 public:
  Input<Buffer<float, 1>> input{"input"};
  Input<float> scale{"scale", 0.1f};
  Output<Buffer<float, 1>> widened{"widened"};
  Output<Buffer<float, 1>> rounded{"rounded"};
  Output<Buffer<float, 1>> fast{"fast"};
  Output<Buffer<int32_t, 1>> floored{"floored"};
  void generate() {
    Var x("x");
    const Expr v = input(x);
    widened(x) = exp(v) + sin(v) * sqrt(abs(v)) + pow(abs(v), 1.5f) + lerp(v, scale, 0.25f) + atan2(v, 2.0f) + select(is_nan(v), 0.0f, tanh(v));
    rounded(x) = cast<float>(cast<bfloat16_t>(v * 3.0f));
    fast(x) = fast_inverse(v) + reinterpret<float>(reinterpret<int32_t>(v * 0.3f) & 0x7fffff00);
    floored(x) = cast<int32_t>(floor(v * 10.0f)) + cast<int32_t>(round(v));
  }
};

// Each value of `change` changes one thing of what variant 0 computes.
class Variants : public Generator<Variants> {
 public:
  GeneratorParam<int> change{"change", 0};
  Input<Buffer<float, 2>> input{"input"};
  Input<float> scale{"scale"};
  Input<float> other{"other"};
  Output<Buffer<float, 2>> output{"output"};
  static constexpr int kVariants = 17;
  void generate() {
    const int c = change;
    Var x("x"), y("y");
    Func f("f"), g("g");
    RDom r(c == 1 ? 1 : 0, c == 2 ? 9 : 8, c == 3 ? "s" : "r");
    if (c == 4) r.where(r != 3);
    const Expr factor = c == 5 ? Expr(other) : Expr(scale);
    f(x, y) = c == 6 ? cast<float>(cast<float16_t>(input(x, y))) : c == 7 ? cast<float>(cast<bfloat16_t>(input(x, y))) : Expr(input(x, y));
    g(x, y) = c == 8 ? 1.0f : 0.0f;
    if (c == 9) g(x, y) += factor * f(x + r, y); else g(x, y) += f(x + (c == 10 ? r + 1 : Expr(r)), y) * factor;
    if (c == 11) g(x, y) += 0.0f;
    const Expr value = c == 12 ? g(y, x) : g(x, y);
    output(x, y) = c == 13 ? value - 1.0f : c == 14 ? value + 1.0001f : c == 15 ? max(value, 1.0f) : c == 16 ? likely(value) + 1.0f : value + 1.0f;
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TupleArgmax, tuple_argmax)
HALIDE_REGISTER_GENERATOR(Arrays, arrays)
HALIDE_REGISTER_GENERATOR(Updates, updates)
HALIDE_REGISTER_GENERATOR(Halves, halves)
HALIDE_REGISTER_GENERATOR(Names, names)
HALIDE_REGISTER_GENERATOR(Scheduled, scheduled)
HALIDE_REGISTER_GENERATOR(Requires, requires_step)
HALIDE_REGISTER_GENERATOR(Open, open_types)
HALIDE_REGISTER_GENERATOR(Mathematics, mathematics)
HALIDE_REGISTER_GENERATOR(Variants, variants)
