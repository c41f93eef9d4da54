#include "generators/host/predict.h"

#include <gtest/gtest.h>

namespace kiln::generators::host {
namespace {

Device device() {
  Device device;
  device.cores = 2;
  device.l1_bytes = 32 * 1024;
  device.l2_bytes = 1024 * 1024;
  device.l3_bytes = 32 * 1024 * 1024;
  return device;
}

LoopNode loop(int id, std::string name, std::int64_t trips, LoopNode::Kind kind = LoopNode::Kind::loop) {
  LoopNode node;
  node.kind = kind;
  node.id = id;
  node.name = std::move(name);
  node.trips = trips;
  return node;
}

LoopNode allocation(int buffer, bool on_heap) {
  LoopNode node;
  node.kind = LoopNode::Kind::allocation;
  node.buffer = buffer;
  node.on_heap = on_heap;
  return node;
}

// for i < repeats: for j < 16384: read a[j], 1 MiB of lines with its step of 16 floats.
LoopTree repeated_sweep(std::int64_t repeats) {
  LoopTree program;
  program.buffers.push_back({.name = "a", .element_bytes = 4, .bytes = 16384 * 64, .is_argument = true});
  LoopNode inner = loop(2, "f.j", 16384), outer = loop(1, "f.i", repeats);
  inner.flops = 2;
  inner.accesses.push_back({0, Place{0, {{2, 16, 16384}}}});
  outer.children.push_back(inner);
  program.root.children.push_back(outer);
  return program;
}

TEST(Predict, a_sweep_repeated_ten_times_crosses_into_l1_every_time_and_into_l2_once) {
  const Predicted report = predict(repeated_sweep(10), device());
  EXPECT_EQ(report.flops, 10.0 * 16384 * 2);
  EXPECT_EQ(report.compulsory_bytes, 1 << 20);
  EXPECT_EQ(report.parallel_tasks, 1);
  EXPECT_EQ(report.working_sets, (std::vector<LoopBytes>{{"f.i", 1 << 20}, {"f.j", 64}}));
  EXPECT_EQ(report.traffic_bytes.at("l1"), 10 << 20);
  EXPECT_EQ(report.traffic_bytes.at("l2"), 1 << 20);
  EXPECT_EQ(report.traffic_bytes.at("l3"), 1 << 20);
}

TEST(Predict, a_level_that_the_device_does_not_have_is_left_out) {
  Device without = device();
  without.l3_bytes = 0;
  EXPECT_FALSE(predict(repeated_sweep(2), without).traffic_bytes.contains("l3"));
}

TEST(Predict, an_unknown_trip_count_leaves_out_what_depends_on_it) {
  LoopTree program = repeated_sweep(10);
  program.root.children[0].trips.reset();
  const Predicted report = predict(program, device());
  EXPECT_EQ(report.flops, std::nullopt);
  EXPECT_FALSE(report.traffic_bytes.contains("l1"));
  EXPECT_EQ(report.traffic_bytes.at("l2"), 1 << 20);  // all of it fits, however often it is read
  EXPECT_EQ(report.working_sets, (std::vector<LoopBytes>{{"f.i", 1 << 20}, {"f.j", 64}}));
  EXPECT_EQ(report.parallel_tasks, 1);
}

TEST(Predict, scratch_inside_a_parallel_loop_exists_once_a_core) {
  LoopTree program;
  program.buffers = {{.name = "row", .element_bytes = 4, .bytes = 1000}, {.name = "tile", .element_bytes = 4, .bytes = 600},
                     {.name = "other", .element_bytes = 4, .bytes = 500}};
  LoopNode row = allocation(0, true), parallel = loop(1, "f.y", 64, LoopNode::Kind::parallel_loop);
  parallel.children = {allocation(1, false), allocation(2, true)};  // one after the other
  row.children.push_back(parallel);
  program.root.children.push_back(row);
  const Predicted report = predict(program, device());
  EXPECT_EQ(report.peak_intermediate_bytes, 1000 + 2 * 600);
  EXPECT_EQ(report.allocations, 2);
  EXPECT_EQ(report.parallel_tasks, 64);
  program.root.children[0].children[0].trips = 1;
  EXPECT_EQ(predict(program, device()).peak_intermediate_bytes, 1600);
}

TEST(Predict, parallel_loops_directly_inside_each_other_multiply) {
  LoopTree program;
  LoopNode outer = loop(1, "f.y", 4, LoopNode::Kind::parallel_loop);
  outer.children.push_back(loop(2, "f.x", 8, LoopNode::Kind::parallel_loop));
  program.root.children.push_back(outer);
  EXPECT_EQ(predict(program, device()).parallel_tasks, 32);
  program.root.children[0].children.push_back(loop(3, "f.z", 5));
  EXPECT_EQ(predict(program, device()).parallel_tasks, 4);
}

// Ten tasks, each reads its own MiB twice.
TEST(Predict, l3_is_shared_by_the_iterations_that_run_at_once) {
  LoopTree program = repeated_sweep(2);
  program.buffers[0].bytes = 10 << 20;
  LoopNode tasks = loop(3, "f.t", 10, LoopNode::Kind::parallel_loop);
  tasks.children = program.root.children;
  tasks.children[0].children[0].accesses[0].place->spans.push_back({3, 16 * 16384, 10});
  program.root.children = {tasks};
  Device tight = device();
  tight.l3_bytes = (1 << 20) + 1;  // one task's MiB, not two
  EXPECT_EQ(predict(program, tight).traffic_bytes.at("l3"), 20 << 20);
  tight.l3_bytes = 2 << 20;
  EXPECT_EQ(predict(program, tight).traffic_bytes.at("l3"), 10 << 20);
}

TEST(Report, predicted_survives_its_json_with_and_without_values) {
  Predicted report = predict(repeated_sweep(10), device());
  EXPECT_EQ(predicted_from_json(to_json(report)), report);
  report.flops.reset();
  report.peak_intermediate_bytes.reset();
  EXPECT_EQ(predicted_from_json(to_json(report)), report);
}

}  // namespace
}  // namespace kiln::generators::host
