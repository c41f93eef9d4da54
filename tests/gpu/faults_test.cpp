// Candidates that hang, touch a wrong address or compute something else, measured on a device by the real worker: each costs itself only.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "autotune/measurer.h"
#include "autotune/probe.h"
#include "dsl/error.h"
#include "missing.h"
#include "nvrtc.h"
#include "tests/support/gpu_subject.h"

namespace kiln::gpu {
namespace {

using namespace autotune;
using generators::Reason;

constexpr char kProblem[] = "swiglu(m=64, n=1024, bf16)";
constexpr char kSchedule[] = "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n";
constexpr char kWait[] = "  pdl_wait();\n";  // what every kernel begins with
constexpr double kCallLimit_s = 2;

std::string planted(const std::string& text, const std::string& after, const std::string& change) {
  const std::size_t at = text.find(after);
  if (at == std::string::npos || text.find(after, at + 1) != std::string::npos) throw std::runtime_error("not once in the text: " + after);
  return text.substr(0, at + after.size()) + change + text.substr(at + after.size());
}

// The device and the candidates, once; nothing of CUDA is loaded in this process but the compiler.
struct Shared {
  explicit Shared(const Device& found) : device(found), subject(kProblem, kSchedule) {
    const std::string text = subject.program().text();
    add("right", text);
    add("right again", text);
    add("hanging", planted(text, kWait, "  for (;;) __nanosleep(1000);\n"));
    add("astray", planted(text, kWait, "  *(volatile int*)16 = 1;\n"));
    add("wrong", planted(text, "float y_value(float g, float u) { return round_bf16(", "0.25f + "));
  }

  void add(const std::string& name, const std::string& text) {
    const auto id = static_cast<std::int64_t>(candidates.size() + 1);
    candidates.emplace(name, subject.candidate(id, cubin_of(text, subject.program().kernels.front().text.name, !subject.program().is_strict)));
  }

  Device device;
  tests::GpuSubject subject;
  std::map<std::string, Candidate> candidates;
};

class Faults : public testing::Test {
 protected:
  static void SetUpTestSuite() try {
    shared = new Shared(probe({}, "cuda:0").device);
  } catch (const EnvironmentError& missing) {
    why_skipped = missing.what();
  } catch (const Missing& missing) {
    why_skipped = missing.what();
  }
  static void TearDownTestSuite() { delete shared; }

  void SetUp() override {
    if (shared == nullptr) GTEST_SKIP() << why_skipped;
    measurer = std::make_unique<Measurer>(shared->device, gpu_protocol(Cache::hot), shared->subject.objects());
    key = measurer->prepare(shared->subject.subject()).key;
  }

  CheckOutcome check(const std::string& name) {
    CheckOptions options;
    options.call_limit_s = kCallLimit_s;
    return measurer->check(key, shared->candidates.at(name), options);
  }

  void expect_right(const std::string& name) {
    const CheckOutcome outcome = check(name);
    EXPECT_FALSE(outcome.rejection) << outcome.rejection->text;
    EXPECT_FALSE(outcome.checked.empty());
  }

  static inline Shared* shared = nullptr;
  static inline std::string why_skipped;
  std::unique_ptr<Measurer> measurer;
  std::string key;
};

TEST_F(Faults, a_wrong_result_is_rejected_and_the_worker_kept) {
  expect_right("right");
  const auto before = measurer->pid();
  ASSERT_TRUE(before);
  const CheckOutcome wrong = check("wrong");
  ASSERT_TRUE(wrong.rejection);
  EXPECT_EQ(wrong.rejection->reason, Reason::wrong_result);
  EXPECT_EQ(wrong.worst_output, "y");
  ASSERT_TRUE(wrong.worst);
  EXPECT_NEAR(std::abs(wrong.worst->got - wrong.worst->expected), 0.25, 0.05);
  EXPECT_TRUE(wrong.rejection->text.starts_with("swiglu(m=64, n=1024, bf16): output y, element (n=")) << wrong.rejection->text;
  expect_right("right again");
  EXPECT_EQ(measurer->pid(), before);
}

TEST_F(Faults, a_call_that_does_not_end_is_ended_with_its_worker_and_the_next_one_is_right) {
  expect_right("right");
  const auto before = measurer->pid();
  const CheckOutcome hanging = check("hanging");
  ASSERT_TRUE(hanging.rejection);
  EXPECT_EQ(hanging.rejection->reason, Reason::run_timeout);
  EXPECT_GE(hanging.rejection->asked.value(), kCallLimit_s);
  EXPECT_EQ(hanging.rejection->allowed, kCallLimit_s);
  EXPECT_TRUE(hanging.rejection->text.starts_with("a call did not end: time-out: ")) << hanging.rejection->text;
  EXPECT_FALSE(measurer->pid());
  expect_right("right");  // in a worker whose device has proved itself
  EXPECT_NE(measurer->pid(), before);
}

TEST_F(Faults, an_access_to_a_wrong_address_is_told_in_the_drivers_words) {
  expect_right("right");
  const auto before = measurer->pid();
  const CheckOutcome astray = check("astray");
  ASSERT_TRUE(astray.rejection);
  EXPECT_EQ(astray.rejection->reason, Reason::run_error);
  EXPECT_EQ(astray.rejection->text, "cuEventSynchronize: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)");
  EXPECT_FALSE(measurer->pid());
  expect_right("right");
  EXPECT_NE(measurer->pid(), before);
  EXPECT_NO_THROW(measurer->check_health());
}

TEST_F(Faults, in_a_race_cost_nobody_else) {
  std::vector<RaceEntry> entries;
  for (const char* name : {"right", "hanging", "right again", "astray"}) entries.push_back({shared->candidates.at(name), entries.empty(), entries.empty()});
  RaceOptions options;
  options.limit_s = 60;
  options.call_limit_s = kCallLimit_s;
  std::map<std::int64_t, RaceResult> results;
  measurer->race(key, entries, options, [&](const RaceResult& result) { results[result.id] = result; });
  const auto of = [&](const char* name) { return results.at(shared->candidates.at(name).id); };
  ASSERT_EQ(results.size(), 4u);
  ASSERT_TRUE(of("hanging").rejection && of("astray").rejection);
  EXPECT_EQ(of("hanging").rejection->reason, Reason::run_timeout);
  EXPECT_EQ(of("astray").rejection->reason, Reason::run_error);
  for (const char* name : {"right", "right again"}) {
    EXPECT_FALSE(of(name).rejection) << name << ": " << of(name).rejection->text;
    EXPECT_GT(of(name).value_ns, 0) << name;
  }
  EXPECT_NEAR(of("right again").to_baseline.value, 1, 0.1);  // the same kernel
}

TEST_F(Faults, are_absent_from_the_clocks_of_a_right_candidate) {
  const ClocksOutcome outcome = measurer->clocks(key, shared->candidates.at("right"));
  ASSERT_FALSE(outcome.rejection) << outcome.rejection->text;
  EXPECT_EQ(outcome.absent, "");
  ASSERT_EQ(outcome.clocks.size(), 4u);
  for (const Clocks& clocks : outcome.clocks) {
    EXPECT_EQ(clocks.kernels, 1);
    EXPECT_GT(clocks.device.median_ns, 0);
    EXPECT_GT(clocks.submit.median_ns, 0);
    EXPECT_GT(clocks.completion.median_ns, clocks.submit.median_ns);
    EXPECT_GT(clocks.sm_mhz, 200);   // an idle H200 runs at 345
    EXPECT_LT(clocks.sm_mhz, 2100);  // and at 1980 at most
  }
  const ClocksOutcome hanging = measurer->clocks(key, shared->candidates.at("hanging"), kCallLimit_s);
  ASSERT_TRUE(hanging.rejection);
  EXPECT_EQ(hanging.rejection->reason, Reason::run_timeout);
}

}  // namespace
}  // namespace kiln::gpu
