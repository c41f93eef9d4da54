#include "autotune/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "autotune/measure/statistics.h"
#include "dsl/error.h"
#include "dsl/legality.h"

namespace kiln::autotune {
namespace {

using generators::Reason;

// Rejections that another device might not have made.
bool decided_by_device(Reason reason) {
  switch (reason) {
    case Reason::over_shared:
    case Reason::over_registers:
    case Reason::over_threads:
    case Reason::over_scratch:
    case Reason::over_grid:
    case Reason::spills:
      return true;
    default:
      return false;
  }
}

std::string effect_word(NumericsEffect effect) {
  switch (effect) {
    case NumericsEffect::none:
      return "none";
    case NumericsEffect::reorders_reduction:
      return "reorders";
    case NumericsEffect::partial_sums:
      return "partial_sums";
    case NumericsEffect::any_order:
      return "any_order";
    case NumericsEffect::approximates:
      return "approximates";
    case NumericsEffect::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

db::AlgorithmRow algorithm_row(const Algorithm& algorithm) {
  return {.digest = digest(algorithm),
          .generator = algorithm.generator,
          .text = print(algorithm),
          .contract = print(algorithm.contract),
          .halide_version = algorithm.halide_version,
          .json = to_json(algorithm)};
}

db::ProblemRow problem_row(const Problem& problem, const Algorithm& algorithm, db::AlgorithmId id) {
  return {.digest = digest(problem, digest(algorithm)),
          .algorithm = id,
          .operator_name = problem.operator_name,
          .text = print(problem),
          .extents = nlohmann::json(problem.extents).dump(),
          .params = nlohmann::json(problem.params).dump(),
          .orders = nlohmann::json(problem.orders).dump(),
          .flops = {},
          .bytes = {}};
}

db::DeviceRow device_row(const Device& device) {
  const std::string text = print(identity(device));
  if (device.gpu)
    return {.digest = digest(device),
            .kind = "cuda",
            .vendor = device.vendor,
            .model = device.model,
            .arch = device.gpu->arch,
            .text = text,
            .units = device.gpu->sms,
            .l1_bytes = {},
            .l2_bytes = device.gpu->l2_bytes,
            .l3_bytes = {},
            .shared_bytes = device.gpu->block_shared_bytes,
            .memory_bytes = device.gpu->memory_bytes};
  return {.digest = digest(device),
          .kind = "cpu",
          .vendor = device.vendor,
          .model = device.model,
          .arch = "x86-64",
          .text = text,
          .units = device.cores,
          .l1_bytes = device.l1_bytes,
          .l2_bytes = device.l2_bytes,
          .l3_bytes = device.l3_bytes,
          .shared_bytes = {},
          .memory_bytes = {}};
}

db::RunRow run_row(const RunKey& key, const Conditions& conditions, std::uint64_t seed, const std::string& command) {
  db::RunRow row;
  row.device = key.device;
  row.toolchain = key.toolchain;
  row.protocol = key.protocol;
  row.process = db::this_process();
  row.seed = static_cast<std::int64_t>(seed);
  row.options = nlohmann::json{{"command", command}, {"conditions", print(conditions)}}.dump();
  return row;
}

std::string numerics_class(const Schedule& schedule, const Algorithm& algorithm) { return effect_word(effect_of(schedule, algorithm)); }

db::RejectionRow rejection_row(const generators::Rejection& rejection) {
  return {.reason = std::string(print(rejection.reason)), .asked = rejection.asked, .allowed = rejection.allowed, .text = rejection.text};
}

generators::Rejection rejection_from(const db::RejectionRow& row) {
  const std::optional<Reason> reason = generators::parse_reason(row.reason);
  KILN_CHECK(reason.has_value(), "the store holds the unknown rejection reason " + row.reason);
  return {.reason = *reason, .asked = row.asked, .allowed = row.allowed, .text = row.text};
}

db::BuildRow build_row(const generators::Build& build, const std::optional<ObjectRef>& object, db::ScheduleId schedule, db::ToolchainId toolchain,
                       db::DeviceId device) {
  db::BuildRow row;
  row.key = build.key;
  row.schedule = schedule;
  row.toolchain = toolchain;
  if (build.artifact) {
    row.target = build.artifact->target;
    row.symbol = build.artifact->symbol;
    row.binary = content_digest(build.artifact->bytes);
    row.binary_bytes = static_cast<std::int64_t>(build.artifact->bytes.size());
  }
  if (object && row.target.empty()) row.target = object->target;
  if (build.predicted) row.predicted = to_json(*build.predicted);
  if (build.actual) row.actual = to_json(*build.actual);
  if (build.rejection) {
    row.rejection = rejection_row(*build.rejection);
    if (decided_by_device(build.rejection->reason)) row.decided_by = device;
  }
  row.lower_ms = build.lower_ms;
  row.compile_ms = build.compile_ms;
  row.log = build.log;
  return row;
}

db::MeasurementRow measurement_row(const RaceResult& result, db::TrialId trial, bool contended) {
  std::vector<double> ns;
  for (const Sample& sample : result.samples) ns.push_back(sample.ns);
  db::MeasurementRow row;
  row.trial = trial;
  for (const Sample& sample : result.samples) row.samples_ns.push_back(sample.ns);
  row.q1_ns = result.q1_ns;
  row.median_ns = std::max(result.median_ns, result.q1_ns);
  row.q3_ns = std::max(quantile(ns, 0.75), row.median_ns);
  std::vector<double> deviations;
  for (const double value : ns) deviations.push_back(std::abs(value - row.median_ns));
  row.mad_ns = median(deviations);
  row.value_ns = result.value_ns;
  row.ratio = result.to_baseline.value;
  row.ratio_lo = result.to_baseline.low;
  row.ratio_hi = result.to_baseline.high;
  row.quality = contended ? "contended" : "clean";
  return row;
}

db::VerificationRow verification_row(const CheckOutcome& outcome, const std::string& tolerance) {
  db::VerificationRow row;
  row.reference = "rebuilt algorithm, floats in f64, strict_float";
  row.tolerance = tolerance;
  row.cases = std::max(1, static_cast<int>(outcome.checked.size()));
  row.passed = !outcome.rejection;
  row.bit_exact = outcome.worst && outcome.worst->severity == 0;
  if (outcome.worst) {
    row.max_error = outcome.worst->severity;
    std::string index;
    for (const std::int64_t i : outcome.worst->index) index += fmt::format("{}{}", index.empty() ? "" : ",", i);
    row.worst_output = fmt::format("{}[{}]", outcome.worst_output, index);
  }
  return row;
}

}  // namespace kiln::autotune
