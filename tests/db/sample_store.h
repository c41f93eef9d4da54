// A store with one operator, device, toolchain and protocol in it, and short ways to add what a test needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/artifacts.h"
#include "db/builds.h"
#include "db/check.h"
#include "db/choices.h"
#include "db/identities.h"
#include "db/races.h"
#include "db/runs.h"
#include "db/trials.h"
#include "dsl/digest.h"

namespace kiln::db {

class SampleStore {
 public:
  explicit SampleStore(const std::string& path = ":memory:", const std::string& toolchain_text = "gcc 12; codegen 1") {
    store_ = std::make_unique<Store>(path, OpenOptions{.access = Access::read_write_create, .now = [this] { return next_time(); }});
    algorithm = keep(*store_, AlgorithmRow{.digest = digest("algorithm", "matmul stages"),
                                           .generator = "matmul",
                                           .text = "matmul stages",
                                           .contract = "bounded",
                                           .halide_version = "21.0.0",
                                           .json = R"({"generator": "matmul"})"});
    key.problem = problem(256);
    DeviceRow cpu;
    cpu.text = "cpu vendor=\"GenuineIntel\" cores=2";
    cpu.digest = digest("device", cpu.text);
    cpu.vendor = "GenuineIntel";
    cpu.model = "Xeon";
    cpu.arch = "x86-64";
    cpu.units = 2;
    key.device = keep(*store_, cpu);
    key.toolchain = keep(*store_, ToolchainRow{digest("toolchain", toolchain_text), toolchain_text});
    key.protocol = keep_protocol(*store_, "v1;cpu;threads=2;cache=hot;stat=q1");
  }

  Store& operator*() { return *store_; }
  Store* operator->() { return store_.get(); }

  ProblemId problem(int m) {
    ProblemRow row;
    row.text = "matmul(m=" + std::to_string(m) + ", n=1024, k=1024, f32)";
    row.digest = digest("problem", digest("algorithm", "matmul stages").hex() + "\n" + row.text + "\n");
    row.algorithm = algorithm;
    row.operator_name = "matmul";
    return keep(*store_, row);
  }

  ScheduleId schedule(const std::string& text, const std::string& origin = "random") {
    ScheduleRow row;
    row.text = text;
    row.digest = digest("schedule", text);
    row.algorithm = algorithm;
    row.origin = origin;
    return keep(*store_, row);
  }

  RunId run(const Process& process = this_process(), const std::string& uuid = "") {
    RunRow row;
    row.uuid = uuid;
    row.device = key.device;
    row.toolchain = key.toolchain;
    row.protocol = key.protocol;
    row.process = process;
    row.seed = 7;
    return begin_run(*store_, row);
  }

  BuildId build(ScheduleId of, ProblemId for_problem, const std::string& object = "") {
    BuildRow row;
    const ScheduleRow text = kiln::db::schedule(*store_, of);
    row.key = digest("build", text.text + static_cast<char>(static_cast<int>(key.toolchain) + '0'));
    row.schedule = of;
    row.toolchain = key.toolchain;
    row.target = "x86-64-linux-avx2";
    row.symbol = "matmul";
    const std::string bytes = object.empty() ? "object of " + text.text : object;
    row.binary = content_digest(bytes);
    row.binary_bytes = static_cast<std::int64_t>(bytes.size());
    row.predicted = R"({"peak_intermediate_bytes": 4096})";
    row.actual = R"({"code_bytes": 100})";
    row.compile_ms = 80;
    return record_build(*store_, for_problem, row);
  }

  // Built, run and checked.
  TrialId ok_trial(RunId run_id, const std::string& schedule_text, bool passed = true) {
    const ScheduleId of = schedule(schedule_text);
    const TrialId id = plan_trial(*store_, run_id, key.problem, of);
    attach_build(*store_, id, build(of, key.problem));
    start_trial(*store_, id);
    VerificationRow check;
    check.reference = "f64";
    check.tolerance = "8 eps sqrt(K)";
    check.passed = passed;
    record_verification(*store_, id, check);
    finish_trial(*store_, id);
    return id;
  }

  static MeasurementRow timing(TrialId of, double ratio, double half_width = 0.01, const std::string& quality = "clean") {
    MeasurementRow row;
    row.trial = of;
    row.q1_ns = row.value_ns = 1000 * ratio;
    row.median_ns = 1010 * ratio;
    row.q3_ns = 1020 * ratio;
    row.mad_ns = 5;
    row.samples_ns = {static_cast<float>(row.q1_ns), static_cast<float>(row.median_ns), static_cast<float>(row.q3_ns)};
    row.ratio = ratio;
    row.ratio_lo = ratio - half_width;
    row.ratio_hi = ratio + half_width;
    row.quality = quality;
    return row;
  }

  RaceId race(RunId run_id, TrialId baseline, const std::vector<MeasurementRow>& rows, const std::string& stage = "final") {
    RaceRow row;
    row.run = run_id;
    row.problem = key.problem;
    row.protocol = key.protocol;
    row.stage = stage;
    row.baseline = baseline;
    row.floor = 0.002;
    return record_race(*store_, row, rows);
  }

  ResultKey key;
  AlgorithmId algorithm{};

 private:
  // A clock that moves a second a look.
  std::string next_time() {
    ++ticks_;
    char text[32];
    std::snprintf(text, sizeof text, "2026-01-01T%02d:%02d:%02d.000Z", ticks_ / 3600 % 24, ticks_ / 60 % 60, ticks_ % 60);
    return text;
  }
  int ticks_ = 0;
  std::unique_ptr<Store> store_;
};

// What an Error thrown by `act` says; empty when it throws none.
template <typename Exception, typename Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Exception& error) {
    return error.what();
  }
  return {};
}

// Everything that check() finds, a line each.
inline std::string findings(Store& store) {
  std::string text;
  for (const Finding& finding : check(store)) text += finding.check + ": " + finding.text + "\n";
  return text;
}

}  // namespace kiln::db
