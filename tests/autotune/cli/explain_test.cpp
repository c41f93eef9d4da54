#include "autotune/cli/pages/explain.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "autotune/cli/pages/doctor.h"
#include "autotune/cli/pages/replay.h"
#include "tests/autotune/cli/golden.h"
#include "tests/db/temporary_folder.h"
#include "tests/support/small_algorithms.h"

namespace kiln::autotune::cli {
namespace {

using generators::Build;
using generators::Reason;
using Json = nlohmann::json;

Device device() {
  Device device;
  device.model = "Xeon";
  device.features = {"avx", "avx2", "fma"};
  device.cores = 2;
  device.l1_bytes = 32 << 10;
  device.l2_bytes = 1 << 20;
  device.l3_bytes = 32 << 20;
  device.vector_bytes = 32;
  device.vector_registers = 16;
  return device;
}

// A product whose arithmetic is the most of it: 2 GFLOP, 12 MiB of arguments, little traffic.
Build compute_bound() {
  Build build;
  build.predicted = generators::Predicted{.flops = 2.0 * 1024 * 1024 * 1024,
                                          .compulsory_bytes = 12 << 20,
                                          .parallel_tasks = 16,
                                          .peak_intermediate_bytes = 1 << 18,
                                          .allocations = 1,
                                          .working_sets = {{"y.mo", 3 << 20}, {"c.update(0).ko", 40 << 10}, {"c.update(0).ki", 4 << 10}},
                                          .traffic_bytes = {{"l1", 64 << 20}, {"l2", 32 << 20}, {"l3", 13 << 20}}};
  build.actual = generators::Actual{.vector_bits = 256, .loop_stack_loads = 0, .loop_stack_stores = 0, .code_bytes = 4096, .stack_frame_bytes = 128, .kernels = {}};
  return build;
}

TEST(Advise, arithmetic_binds_where_nothing_else_does) {
  const Advice advice = advise(compute_bound(), device(), 2, 4);
  EXPECT_EQ(advice.binds, "compute");
  EXPECT_TRUE(advice.lines.empty());
  EXPECT_EQ(advice.next, "the arithmetic alone takes longest; memory_bandwidth would take 4 % of that, so less traffic buys nothing");
  ASSERT_EQ(advice.bounds.size(), 4u);
  EXPECT_EQ(advice.bounds[0].resource, "compute");
  EXPECT_EQ(advice.bounds[0].cycles, 2.0 * 1024 * 1024 * 1024 / 32 / 2);  // eight lanes, four operations each, two cores
  EXPECT_EQ(advice.bounds[1].cycles, 13.0 * (1 << 20) / 5 / 2);
}

TEST(Advise, too_few_tasks_bind_before_all_else) {
  Build build = compute_bound();
  build.predicted->parallel_tasks = 1;
  const Advice advice = advise(build, device(), 2, 4);
  EXPECT_EQ(advice.binds, "parallel_tasks");
  EXPECT_EQ(advice.lines.at(0), "1 parallel task for 2 threads: parallelise an outer loop, or split it into smaller tiles");
  EXPECT_EQ(advice.next, "a task for each of 2 threads: up to 2.0x");
}

TEST(Advise, tasks_that_do_not_divide_are_told_but_do_not_bind) {
  Build build = compute_bound();
  build.predicted->parallel_tasks = 3;
  const Advice advice = advise(build, device(), 2, 4);
  EXPECT_EQ(advice.binds, "compute");
  EXPECT_EQ(advice.lines.at(0), "3 tasks on 2 threads need 2 rounds and leave 25 % of the last ones idle: another tile size divides better");
}

TEST(Advise, narrow_vectors_and_spills_bind_compute) {
  Build build = compute_bound();
  build.actual->vector_bits = 128;
  EXPECT_EQ(advise(build, device(), 2, 4).binds, "vector_width");
  EXPECT_EQ(advise(build, device(), 2, 4).lines.at(0),
            "the widest vectors are of 128 bits, the device has 256: vectorize the innermost dense loop by 8");
  EXPECT_EQ(advise(build, device(), 2, 4).next, "vectors of 256 bits: up to 2.0x");
  build.actual->vector_bits = 256;
  build.actual->loop_stack_loads = 7;
  EXPECT_EQ(advise(build, device(), 2, 4).binds, "registers");
  EXPECT_EQ(advise(build, device(), 2, 4).lines.at(0),
            "loops read the stack 7 and write it 0 times: more values are kept than the 16 vector registers hold; unroll less");
}

TEST(Advise, traffic_binds_at_the_level_it_crosses_most_dearly) {
  Build build = compute_bound();
  build.predicted->traffic_bytes["l2"] = std::int64_t{8} << 30;
  const Advice l3 = advise(build, device(), 2, 4);
  EXPECT_EQ(l3.binds, "l3_bandwidth");
  EXPECT_EQ(l3.lines.at(0), "one iteration of y.mo touches 3.0 MiB, L2 holds 1.0 MiB: smaller tiles inside it would be reused from there");
  EXPECT_EQ(l3.next, "");  // nothing is known of other schedules
  build = compute_bound();
  build.predicted->traffic_bytes["l1"] = std::int64_t{32} << 30;
  EXPECT_EQ(advise(build, device(), 2, 4).lines.at(0),
            "one iteration of c.update(0).ko touches 40.0 KiB, L1 holds 32.0 KiB: smaller tiles inside it would be reused from there");
}

TEST(Advise, the_next_step_is_measured_by_the_least_traffic_there_can_be) {
  Build build = compute_bound();
  build.predicted->traffic_bytes["l2"] = std::int64_t{8} << 30;
  const auto next = [&](std::int64_t least) { return advise(build, device(), 2, 4, {{"l2", {least, "tiles of 512 x 510 of c"}}}).next; };
  EXPECT_EQ(next(std::int64_t{4} << 30), "the least that can cross into l2 is 4096.0 MiB instead of 8192.0 MiB (tiles of 512 x 510 of c): up to 2.0x");
  EXPECT_EQ(next(64 << 20), "the least that can cross into l2 is 64.0 MiB instead of 8192.0 MiB (tiles of 512 x 510 of c): up to 8.0x, then compute binds");
  EXPECT_EQ(next((std::int64_t{8} << 30) - 1),
            "no tiling brings much less than these 8192.0 MiB into l2 (tiles of 512 x 510 of c); compute would take 12 % of the time");
}

TEST(Advise, memory_binds_with_or_without_a_way_out) {
  Build build = compute_bound();
  build.predicted->flops = 1e6;
  EXPECT_EQ(advise(build, device(), 2, 4).binds, "memory_bandwidth");
  EXPECT_EQ(advise(build, device(), 2, 4).lines.at(0),
            "every argument crosses from memory about once: only a smaller type or fusing with a neighbour would help");
  build.predicted->traffic_bytes["l3"] = 40 << 20;
  EXPECT_EQ(advise(build, device(), 2, 4).lines.at(0),
            "40.0 MiB come from memory, the arguments are 12.0 MiB: fuse stages or tile so that values are reused while they are near");
}

TEST(Advise, a_rejection_binds_by_its_reason) {
  Build build;
  build.rejection = generators::Rejection{Reason::over_scratch, 5e9, 4e9, "c needs 5 GB"};
  const Advice advice = advise(build, device(), 2, 4);
  EXPECT_EQ(advice.binds, "over_scratch");
  EXPECT_EQ(advice.lines.at(0), "compute intermediates at a tile of their consumer, or use smaller tiles");
}

TEST(Advise, nothing_known_is_said_to_be_unknown) {
  Build build;
  EXPECT_EQ(advise(build, device(), 2, 4).binds, "unknown");
  build.predicted = generators::Predicted{.flops = {}, .parallel_tasks = {}, .peak_intermediate_bytes = {}, .working_sets = {}, .traffic_bytes = {}, .kernels = {}};
  EXPECT_EQ(advise(build, device(), 2, 4).binds, "unknown");
}

Explanation explanation() {
  Explanation explanation;
  explanation.subject.algorithm = std::make_shared<Algorithm>(tests::product());
  explanation.subject.problem.operator_name = "product";
  explanation.subject.problem.extents = {{"m", 256}, {"n", 1024}, {"k", 1024}};
  explanation.subject.problem.symbol_order = {"m", "n", "k"};
  explanation.subject.schedule = parse_schedule("y.parallel(m)\nc.compute_at(y, m)");
  explanation.device = device();
  explanation.threads = 2;
  explanation.costs = costs_of(explanation.subject, explanation.device);
  explanation.build = compute_bound();
  explanation.advice = advise(explanation.build, explanation.device, 2, 4, explanation.costs.least);
  return explanation;
}

TEST(Explain, the_page_reads_as_reviewed) {
  Explanation known = explanation();
  known.known = KnownTime{{.digest = {}, .build = {}, .rejection = {}, .stage = "final", .ratio = 0.5, .value_ns = 45.6e6, .clean = true}, "Xeon", "v1;cpu"};
  expect_golden(print_explanation(known), "pages/explain.txt");
}

TEST(Explain, a_rejection_is_told_with_its_text_and_both_numbers) {
  Explanation rejected = explanation();
  rejected.build.actual.reset();
  rejected.build.rejection = generators::Rejection{Reason::over_scratch, 5e9, 4e9, "c needs 5,000,000,000 bytes of scratch; 4,000,000,000 are allowed"};
  rejected.advice = advise(rejected.build, rejected.device, 2, 4);
  const std::string text = print_explanation(rejected);
  EXPECT_NE(text.find("rejected: over_scratch\n  c needs 5,000,000,000 bytes of scratch; 4,000,000,000 are allowed\n  asked 5e+09, allowed 4e+09\n"),
            std::string::npos)
      << text;
  const Json json = Json::parse(explanation_json(rejected));
  EXPECT_EQ(json["rejection"]["reason"], "over_scratch");
  EXPECT_TRUE(json["actual"].is_null());
}

TEST(Explain, an_opaque_schedule_has_no_closed_forms_and_says_so) {
  Explanation opaque = explanation();
  opaque.subject.schedule = parse_schedule("autoschedule(Mullapudi2016, parallelism=2)");
  opaque.costs = costs_of(opaque.subject, opaque.device);
  EXPECT_NE(print_explanation(opaque).find("before lowering\n"
                                           "  no closed forms       what autoschedule(Mullapudi2016, parallelism=2) does is known when it is lowered\n"),
            std::string::npos)
      << print_explanation(opaque);
  EXPECT_EQ(Json::parse(explanation_json(opaque))["closed_forms"]["why_not"],
            "what autoschedule(Mullapudi2016, parallelism=2) does is known when it is lowered");
}

TEST(Explain, json_holds_the_closed_forms) {
  const Json forms = Json::parse(explanation_json(explanation()))["closed_forms"];
  EXPECT_EQ(forms["kernels"], (std::vector<std::string>{"y"}));
  EXPECT_EQ(forms["flops"], 2.0 * 256 * 1024 * 1024 + 256 * 1024);
  EXPECT_EQ(forms["compulsory_bytes"], 4 * (256 * 1024 + 1024 * 1024 + 256 * 1024));
  EXPECT_EQ(forms["parallel_tasks"], 256);
  EXPECT_EQ(forms["peak_intermediate_bytes"], 2 * 4096);
  EXPECT_EQ(forms["peak_live_bytes"], forms["compulsory_bytes"]);
  EXPECT_EQ(forms["working_set_bytes"]["y.m"], 4 * (1024 + 1024 * 1024 + 1024 + 1024));  // a row of A, all of B, a row of c and of y
  EXPECT_EQ(forms["held_bytes"]["y.m"], 4 * (1024 + 1024 * 1024 + 1024));                // A is done with before y begins
  for (const char* level : {"l1", "l2", "l3"}) {
    EXPECT_GE(forms["traffic_bytes"][level], forms["least_traffic_bytes"][level]["bytes"]) << level;
    EXPECT_TRUE(forms["least_traffic_bytes"][level]["because"].is_string()) << level;
  }
}

TEST(Explain, json_names_the_resources) {
  const Json json = Json::parse(explanation_json(explanation()));
  for (const char* key : {"flops", "compulsory_bytes", "traffic_bytes", "working_set_bytes", "peak_intermediate_bytes", "intensity", "parallel_tasks"})
    EXPECT_TRUE(json["predicted"].contains(key)) << key;
  EXPECT_EQ(json["predicted"]["working_set_bytes"]["y.mo"], 3 << 20);
  EXPECT_EQ(json["predicted"]["traffic_bytes"]["l3"], 13 << 20);
  EXPECT_EQ(json["actual"]["vector_bits"], 256);
  EXPECT_EQ(json["binds"], "compute");
  EXPECT_EQ(json["bounds_cycles"].size(), 4u);
  EXPECT_TRUE(json["advice"].is_array());
  EXPECT_TRUE(json["next"].is_string());
}

TEST(Replay, a_page_says_how_it_compares_now_and_before) {
  ReplayOutcome outcome;
  outcome.problem = "matmul(m=256)";
  outcome.candidate = "3f2a91c00000";
  outcome.baseline_origin = "own";
  outcome.baseline_ns = 2000;
  outcome.value_ns = 1000;
  outcome.to_baseline = {0.5, 0.49, 0.51, 20};
  outcome.earlier_ratio = 0.52;
  outcome.floor = 0.004;
  EXPECT_EQ(print_replay(outcome),
            "matmul(m=256)\ncandidate 3f2a91c00000\n1.00 µs a call; baseline (own schedule) 2.00 µs; noise 0.4 %\n2.00x (1.96–2.04); before: 1.92x\n");
  outcome.to_baseline = {0.99, 0.97, 1.01, 20};
  EXPECT_NE(print_replay(outcome).find("\ntie (0.99–1.03)"), std::string::npos);
  outcome.rejection = generators::Rejection{Reason::wrong_result, {}, {}, "y[0] is 2, the reference has 1"};
  EXPECT_EQ(print_replay(outcome), "matmul(m=256)\ncandidate 3f2a91c00000\nrejected: wrong_result\n  y[0] is 2, the reference has 1\n");
  EXPECT_EQ(Json::parse(replay_json(outcome))["rejected"]["reason"], "wrong_result");
}

Diagnosis healthy() {
  Diagnosis diagnosis;
  diagnosis.machine.device = device();
  diagnosis.machine.conditions.governor = "performance";
  diagnosis.target = "x86-64-linux-avx-avx2-fma-no_runtime";
  diagnosis.halide_version = "21.0.0";
  diagnosis.halide_path = "/opt/libHalide.so.21";
  diagnosis.autoschedulers = {"Mullapudi2016"};
  diagnosis.nvrtc_version = "13.0.88";
  diagnosis.nvrtc_path = "/opt/libnvrtc.so.13";
  diagnosis.sqlite_version = "3.40.1";
  diagnosis.store_folder = "/night";
  diagnosis.free_bytes = 50.0 * (1u << 30);
  diagnosis.tools = {{"cc", "/usr/bin/cc", "gcc", "exporting"}, {"ld", "/usr/bin/ld", "binutils", "measuring and exporting"}};
  return diagnosis;
}

TEST(Doctor, a_healthy_machine_reads_as_reviewed) {
  Diagnosis diagnosis = healthy();
  judge(diagnosis);
  EXPECT_TRUE(diagnosis.missing.empty());
  EXPECT_TRUE(diagnosis.warnings.empty());
  expect_golden(print_diagnosis(diagnosis), "pages/doctor.txt");
}

TEST(Doctor, what_is_missing_names_the_package) {
  Diagnosis diagnosis = healthy();
  diagnosis.tools[1].path.clear();
  diagnosis.halide_path.clear();
  judge(diagnosis);
  EXPECT_EQ(diagnosis.missing, (std::vector<std::string>{"libHalide is not loaded; `.ci/setup.sh` installs it into .venv",
                                                         "ld is needed for measuring and exporting: apt-get install binutils"}));
  EXPECT_NE(print_diagnosis(diagnosis).find("missing: ld is needed for measuring and exporting: apt-get install binutils\n"), std::string::npos);
}

TEST(Doctor, nvrtc_is_not_missing_but_its_absence_is_told) {
  Diagnosis diagnosis = healthy();
  EXPECT_EQ(Json::parse(diagnosis_json(diagnosis))["nvrtc"], (Json{{"version", "13.0.88"}, {"path", "/opt/libnvrtc.so.13"}}));
  diagnosis.nvrtc_path.clear();
  judge(diagnosis);
  EXPECT_TRUE(diagnosis.missing.empty() && diagnosis.warnings.empty());
  const std::string page = print_diagnosis(diagnosis);
  EXPECT_NE(page.find("\nNVRTC           not here; kernels for GPUs need it: `.ci/setup.sh` installs it into .venv\n"), std::string::npos) << page;
  EXPECT_EQ(Json::parse(diagnosis_json(diagnosis))["nvrtc"], nullptr);
}

TEST(Doctor, a_noisy_machine_is_warned_about) {
  Diagnosis diagnosis = healthy();
  diagnosis.machine.conditions.governor = "powersave";
  diagnosis.machine.conditions.load_1min = 3.25;
  diagnosis.machine.conditions.steal_share = 0.05;
  diagnosis.free_bytes = 1 << 20;
  judge(diagnosis);
  EXPECT_EQ(diagnosis.warnings,
            (std::vector<std::string>{"/night has 1 MiB free; a night may need 2 GiB",
                                      "the frequency governor is powersave; times are steadier with `performance`",
                                      "the load is 3.25: other programs run; times will be noisy above 0.5",
                                      "5.0 % of the processor time was taken by other guests of this host"}));
  EXPECT_TRUE(Json::parse(diagnosis_json(diagnosis))["missing"].empty());
}

TEST(Doctor, programs_are_found_along_the_path) {
  db::TemporaryFolder folder;
  std::ofstream(folder.file("tool")) << "#!/bin/sh\n";
  EXPECT_EQ(find_program("tool", "/nowhere:" + folder.path()), "");
  std::filesystem::permissions(folder.file("tool"), std::filesystem::perms::owner_all);
  EXPECT_EQ(find_program("tool", "/nowhere:" + folder.path()), folder.file("tool"));
}

}  // namespace
}  // namespace kiln::autotune::cli
