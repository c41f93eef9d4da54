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

// 128 x 64 by two consumers over 1024 x 12288 x 4096 in bf16.
ExpectedTime narrow(const Gpu& gpu) {
  generators::cuda::resources::RingWork work{.ring = {.tile = {128, 64, 64}, .element_bytes = 2, .stages = 8, .store_bytes = 32768}, .tall = 1024, .wide = 12288, .terms = 4096, .consumers = 2,
                                             .group = 8};
  return {"matmul_y", work, *ring_time(work, gpu)};
}

TEST(ExplainGpu, says_what_a_kernel_is_expected_to_take_what_binds_and_what_would_help) {
  const Gpu& gpu = *schedules::device_named("h200").gpu;
  EXPECT_EQ(print_times({narrow(gpu)}, gpu, {narrow(gpu).time.ns, 238.9e3}),
            "matmul_y is expected to take 227 µs\n"
            "  alone               tensor cores 140 µs, shared memory 196 µs, L2 168 µs, memory 29.8 µs, waiting for stages 124 µs\n"
            "  beside nothing      first stage 12.1 µs, results 14.9 µs, launch 900 ns\n"
            "  turns               11.64 of 132 blocks, 97 % used\n"
            "  bytes               128 MiB from memory, 2.2 GiB out of L2, 24.8 MiB under way\n"
            "  binds               shared_memory (87 % of the time)\n"
            "  a tile of 128×64 is read from and written to shared memory in 1.41 times what its products take: a larger one is used more often\n"
            "  measured            239 µs, 5 % more than expected\n\n");
  EXPECT_EQ(print_times({}, gpu, {2e5, 238.9e3}), "");
  // A call of two rings with a kernel between them.
  EXPECT_NE(print_times({narrow(gpu), narrow(gpu)}, gpu, {460e3, 437e3}).find("  all kernels         460 µs\n  measured            437 µs, 5 % less than expected\n"), std::string::npos);
  GpuExplanation explained = explanation({{}, {}, kTooLarge});
  EXPECT_EQ(Json::parse(explanation_json(explained))["binds"], Json(nullptr));
  explained.times = {narrow(gpu)};
  const Json json = Json::parse(explanation_json(explained));
  EXPECT_EQ(json["binds"], "shared_memory");
  EXPECT_EQ(json["times"][0]["kernel"], "matmul_y");
  EXPECT_DOUBLE_EQ(json["times"][0]["predicted_ns"], narrow(gpu).time.ns);
  EXPECT_EQ(json["times"][0]["advice"].size(), 1u);
}

TEST(ExplainGpu, advises_by_what_binds) {
  const Gpu& gpu = *schedules::device_named("h200").gpu;
  const auto advice = [&](auto change) {
    ExpectedTime expected = narrow(gpu);
    expected.work.ring.tile.n = 192;
    expected.work.ring.stages = 5;
    change(expected.work);
    expected.time = *ring_time(expected.work, gpu);
    return advice_on(expected, gpu);
  };
  using Work = generators::cuda::resources::RingWork;
  EXPECT_EQ(advice([](Work&) {}), (std::vector<std::string>{"the products alone take 92 % of the time: only fewer operations would help"}));
  EXPECT_EQ(advice([](Work& w) { w.ring.stages = 2; }), (std::vector<std::string>{"2 stages of 40 KiB are not enough under way: more stages, or more blocks on an SM, up to 1.7x"}));
  EXPECT_EQ(advice([](Work& w) { w.tall = 320; }), (std::vector<std::string>{"1.45 turns of 132 blocks use 73 % of the turns they begin: a tile, or parts of one, that leave less of the last turn empty, up to 1.38x"}));
  EXPECT_EQ(advice([](Work& w) { w.tall = 16; w.ring.tile.m = 64; w.consumers = 1; }), (std::vector<std::string>{"every argument crosses from memory about once: only a smaller type or fusing with a neighbour would help"}));
  EXPECT_EQ(advice([](Work& w) { w.tall = 4096; w.ring.tile.n = 128; w.group = 1; }), (std::vector<std::string>{"3.1 GiB cross from memory, the arguments are 224 MiB: tiles in larger groups, and no tile that hangs over the edge, read less of it again"}));
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
