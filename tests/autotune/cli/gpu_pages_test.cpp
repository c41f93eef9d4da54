// Pages about a GPU's candidates.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "autotune/cli/pages/bundle.h"
#include "autotune/cli/pages/explain_gpu.h"
#include "schedules/devices.h"
#include "tests/support/small_algorithms.h"

namespace kiln::autotune::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kTooLarge = "the emulator takes 64 blocks: every problem that its kernels take is larger";

GpuExplanation explanation(Emulation emulation) {
  GpuExplanation explanation;
  explanation.subject.algorithm = std::make_shared<Algorithm>(tests::product());
  explanation.subject.problem.operator_name = "product";
  explanation.device = schedules::device_named("h200");
  explanation.emulation = std::move(emulation);
  return explanation;
}

TEST(ExplainGpu, says_what_the_emulator_said_or_why_it_was_not_asked) {
  Problem checked;
  checked.operator_name = "product";
  checked.extents = {{"m", 5}};
  checked.symbol_order = {"m"};
  EXPECT_NE(print_explanation(explanation({{checked}, {}, {}})).find("\nin the emulator: right, in eight orders of threads and asynchronous operations, on product(m=5)\n"),
            std::string::npos);
  const GpuExplanation too_large = explanation({{}, {}, kTooLarge});
  EXPECT_NE(print_explanation(too_large).find(std::string("\nin the emulator: not run: ") + kTooLarge + "\n"), std::string::npos) << print_explanation(too_large);
  EXPECT_EQ(Json::parse(explanation_json(too_large))["emulation"], (Json{{"checked", Json::array()}, {"too_large", kTooLarge}, {"rejection", nullptr}}));
}

TEST(BundlePage, counts_what_was_packed_without_the_emulator) {
  BundleOutcome outcome;
  outcome.problems = {{.problem = "norm(m=64)", .tried = 9, .packed = 8, .unemulated = 0, .rejected = {{"spills", 1}}},
                      {.problem = "norm(m=1)", .tried = 8, .packed = 8, .unemulated = 2, .rejected = {}}};
  EXPECT_EQ(print_bundle(outcome, "there"),
            "norm(m=64): 8 candidates packed of 9 tried; rejected: 1 spills\n"
            "norm(m=1): 8 candidates packed of 8 tried, 2 too large for the emulator; rejected: none\n"
            "no bundle was written\n");
  EXPECT_EQ(Json::parse(bundle_json(outcome, "there"))["problems"][1]["unemulated"], 2);
}

}  // namespace
}  // namespace kiln::autotune::cli
