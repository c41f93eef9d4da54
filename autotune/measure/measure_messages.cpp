#include "autotune/measure/measure_messages.h"

#include <fmt/format.h>

namespace kiln::autotune {
namespace {

Json to_json(const Ratio& ratio) {
  return {{"value", number(ratio.value)}, {"low", number(ratio.low)}, {"high", number(ratio.high)}, {"rounds", ratio.rounds}};
}

Ratio ratio_from_json(const Json& json) {
  return {number_from(json.at("value")), number_from(json.at("low")), number_from(json.at("high")), json.at("rounds").get<int>()};
}

Json to_json(const Worst& worst) {
  return {{"index", worst.index}, {"got", number(worst.got)}, {"expected", number(worst.expected)}, {"allowed", number(worst.allowed)},
          {"severity", number(worst.severity)}};
}

Worst worst_from_json(const Json& json) {
  return {json.at("index").get<std::vector<std::int64_t>>(), number_from(json.at("got")), number_from(json.at("expected")), number_from(json.at("allowed")),
          number_from(json.at("severity"))};
}

Json to_json(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) list.push_back(autotune::to_json(problem));
  return list;
}

std::vector<Problem> problems_from_json(const Json& json) {
  std::vector<Problem> problems;
  for (const Json& problem : json) problems.push_back(problem_from_json(problem));
  return problems;
}

// Columns: a tenth of the text of an object a sample.
Json to_json(const std::vector<Sample>& samples) {
  Json rounds = Json::array(), ns = Json::array(), switched = Json::array();
  for (const Sample& sample : samples) {
    rounds.push_back(sample.round);
    ns.push_back(sample.ns);
    switched.push_back(sample.switched ? 1 : 0);
  }
  return {{"round", rounds}, {"ns", ns}, {"switched", switched}};
}

std::vector<Sample> samples_from_json(const Json& json) {
  std::vector<Sample> samples(json.at("ns").size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = {json.at("round").at(i).get<int>(), json.at("ns").at(i).get<float>(), json.at("switched").at(i).get<int>() != 0};
  return samples;
}

Json to_json(const Spread& spread) { return {{"median_ns", number(spread.median_ns)}, {"iqr_ns", number(spread.iqr_ns)}}; }

Spread spread_from_json(const Json& json) { return {number_from(json.at("median_ns")), number_from(json.at("iqr_ns"))}; }

Json to_json(const Clocks& clocks) {
  return {{"submission", static_cast<int>(clocks.submission)},
          {"cache", static_cast<int>(clocks.cache)},
          {"kernels", clocks.kernels},
          {"calls_together", clocks.calls_together},
          {"device", to_json(clocks.device)},
          {"submit", to_json(clocks.submit)},
          {"completion", to_json(clocks.completion)},
          {"sm_mhz", number(clocks.sm_mhz)}};
}

Clocks clocks_from_json(const Json& json) {
  return {.submission = static_cast<Submission>(json.at("submission").get<int>()),
          .cache = static_cast<Cache>(json.at("cache").get<int>()),
          .kernels = json.at("kernels").get<int>(),
          .calls_together = json.at("calls_together").get<int>(),
          .device = spread_from_json(json.at("device")),
          .submit = spread_from_json(json.at("submit")),
          .completion = spread_from_json(json.at("completion")),
          .sm_mhz = number_from(json.at("sm_mhz"))};
}

}  // namespace

Json to_json(const Subject& subject, const std::string& algorithm_hash) {
  return {{"algorithm", algorithm_hash}, {"problem", to_json(subject.problem)}, {"reference", to_json(subject.reference)},
          {"flops", subject.flops},      {"seed", subject.seed},                {"key", subject_key(subject)}};
}

Subject subject_from_json(const Json& json, const Objects& objects) {
  Subject subject;
  subject.algorithm = std::make_shared<const Algorithm>(algorithm_from_json(objects.algorithm(json.at("algorithm").get<std::string>())));
  subject.problem = problem_from_json(json.at("problem"));
  subject.reference = object_from_json(json.at("reference"));
  json.at("flops").get_to(subject.flops);
  json.at("seed").get_to(subject.seed);
  return subject;
}

std::string subject_key(const Subject& subject) {
  const Digest algorithm = digest(*subject.algorithm);
  return digest("subject", fmt::format("{}\n{}\n{}\n{}\n{}\n", algorithm.hex(), print(subject.problem), subject.reference.hash, subject.runs_in_tiles() ? "tiles" : "whole", subject.seed))
      .short_hex();
}

Json to_json(const Prepared& prepared) {
  return {{"key", prepared.key},
          {"whole", prepared.whole},
          {"ragged", to_json(prepared.ragged)},
          {"ragged_absent", prepared.ragged_absent},
          {"reference_s", prepared.reference_s}};
}

Prepared prepared_from_json(const Json& json) {
  return {json.at("key").get<std::string>(), json.at("whole").get<bool>(), problems_from_json(json.at("ragged")),
          json.at("ragged_absent").get<std::string>(), json.at("reference_s").get<double>()};
}

Json to_json(const Candidate& candidate) {
  return {{"id", candidate.id}, {"object", to_json(candidate.object)}, {"may_differ_in_order", candidate.may_differ_in_order}};
}

Candidate candidate_from_json(const Json& json) {
  return {json.at("id").get<std::int64_t>(), object_from_json(json.at("object")), json.at("may_differ_in_order").get<bool>()};
}

Json to_json(const CheckOptions& options) {
  return {{"alignment_bytes", options.alignment_bytes}, {"ragged", options.ragged}, {"call_limit_s", options.call_limit_s},
          {"hopeless_ns", options.hopeless_ns}};
}

CheckOptions check_options_from_json(const Json& json) {
  return {json.at("alignment_bytes").get<int>(), json.at("ragged").get<bool>(), json.at("call_limit_s").get<double>(),
          json.at("hopeless_ns").get<double>()};
}

Json to_json(const CheckOutcome& outcome) {
  return {{"rejection", to_json(outcome.rejection)},
          {"worst_output", outcome.worst_output},
          {"worst", outcome.worst ? to_json(*outcome.worst) : Json(nullptr)},
          {"outliers", outcome.outliers},
          {"checked", to_json(outcome.checked)},
          {"call_ns", outcome.call_ns}};
}

CheckOutcome check_outcome_from_json(const Json& json) {
  CheckOutcome outcome;
  outcome.rejection = rejection_from_json(json.at("rejection"));
  json.at("worst_output").get_to(outcome.worst_output);
  if (const Json& worst = json.at("worst"); !worst.is_null()) outcome.worst = worst_from_json(worst);
  json.at("outliers").get_to(outcome.outliers);
  outcome.checked = problems_from_json(json.at("checked"));
  json.at("call_ns").get_to(outcome.call_ns);
  return outcome;
}

Json to_json(const RaceEntry& entry) {
  return {{"candidate", to_json(entry.candidate)}, {"is_baseline", entry.is_baseline}, {"is_incumbent", entry.is_incumbent}};
}

RaceEntry race_entry_from_json(const Json& json) {
  return {candidate_from_json(json.at("candidate")), json.at("is_baseline").get<bool>(), json.at("is_incumbent").get<bool>()};
}

Json to_json(const RaceOptions& options) {
  return {{"stage", static_cast<int>(options.stage)}, {"floor", number(options.floor)}, {"limit_s", options.limit_s},
          {"call_limit_s", options.call_limit_s},     {"once_ns", options.once_ns},     {"least_ns", options.least_ns},
          {"seed", options.seed}};
}

RaceOptions race_options_from_json(const Json& json) {
  RaceOptions options;
  options.stage = static_cast<RaceStage>(json.at("stage").get<int>());
  options.floor = number_from(json.at("floor"));
  json.at("limit_s").get_to(options.limit_s);
  json.at("call_limit_s").get_to(options.call_limit_s);
  json.at("once_ns").get_to(options.once_ns);
  json.at("least_ns").get_to(options.least_ns);
  json.at("seed").get_to(options.seed);
  return options;
}

Json to_json(const RaceResult& result) {
  return {{"id", result.id},
          {"rejection", to_json(result.rejection)},
          {"samples", to_json(result.samples)},
          {"calls_per_sample", result.calls_per_sample},
          {"dropped", result.dropped},
          {"q1_ns", number(result.q1_ns)},
          {"median_ns", number(result.median_ns)},
          {"min_ns", number(result.min_ns)},
          {"value_ns", number(result.value_ns)},
          {"to_baseline", to_json(result.to_baseline)},
          {"to_incumbent", to_json(result.to_incumbent)},
          {"timed_once", result.timed_once},
          {"cut_short", result.cut_short}};
}

RaceResult race_result_from_json(const Json& json) {
  RaceResult result;
  json.at("id").get_to(result.id);
  result.rejection = rejection_from_json(json.at("rejection"));
  result.samples = samples_from_json(json.at("samples"));
  json.at("calls_per_sample").get_to(result.calls_per_sample);
  json.at("dropped").get_to(result.dropped);
  result.q1_ns = number_from(json.at("q1_ns"));
  result.median_ns = number_from(json.at("median_ns"));
  result.min_ns = number_from(json.at("min_ns"));
  result.value_ns = number_from(json.at("value_ns"));
  result.to_baseline = ratio_from_json(json.at("to_baseline"));
  result.to_incumbent = ratio_from_json(json.at("to_incumbent"));
  json.at("timed_once").get_to(result.timed_once);
  json.at("cut_short").get_to(result.cut_short);
  return result;
}

Json to_json(const ClocksOutcome& outcome) {
  Json list = Json::array();
  for (const Clocks& clocks : outcome.clocks) list.push_back(to_json(clocks));
  return {{"rejection", to_json(outcome.rejection)}, {"clocks", list}, {"absent", outcome.absent}};
}

ClocksOutcome clocks_outcome_from_json(const Json& json) {
  ClocksOutcome outcome;
  outcome.rejection = rejection_from_json(json.at("rejection"));
  for (const Json& clocks : json.at("clocks")) outcome.clocks.push_back(clocks_from_json(clocks));
  json.at("absent").get_to(outcome.absent);
  return outcome;
}

Json to_json(const FloorOutcome& outcome) {
  return {{"floor", number(outcome.floor)}, {"contended", outcome.contended}, {"value_ns", number(outcome.value_ns)}, {"rejection", to_json(outcome.rejection)}};
}

FloorOutcome floor_outcome_from_json(const Json& json) {
  return {number_from(json.at("floor")), json.at("contended").get<bool>(), number_from(json.at("value_ns")), rejection_from_json(json.at("rejection"))};
}

}  // namespace kiln::autotune
