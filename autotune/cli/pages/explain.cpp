#include "autotune/cli/pages/explain.h"

#include <fmt/format.h>

#include "autotune/cli/pages/explain_parts.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {
namespace {

using generators::Actual;
using generators::Predicted;

std::string bytes_text(std::int64_t bytes) { return print_bytes(static_cast<double>(bytes)); }

std::string fits_in(std::int64_t bytes, const Device& device) {
  if (bytes <= device.l1_bytes) return "L1";
  if (bytes <= device.l2_bytes) return "L2";
  return bytes <= device.l3_bytes ? "L3" : "memory";
}

std::string line(std::string_view name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); }

// From algorithm, schedule and problem alone: there before anything is lowered, and where lowering failed.
std::string print_closed(const Costs& costs) {
  std::string text = "before lowering\n";
  if (!costs.closed.tree) return text + line("no closed forms", costs.closed.why_not);
  const FootprintTree& tree = *costs.closed.tree;
  std::string kernels;
  for (const std::string& kernel : tree.kernels) kernels += (kernels.empty() ? "" : ", ") + kernel;
  text += line("kernels", fmt::format("{}: {}", tree.kernels.size(), kernels));
  text += line("alive at once", bytes_text(peak_live_bytes(tree)));
  for (const auto& [level, least] : costs.least)
    text += line("at least into " + level, fmt::format("{} ({})", bytes_text(least.bytes), least.because));
  return text;
}

std::string print_predicted(const Predicted& predicted, const Device& device) {
  std::string text = "predicted\n";
  const auto line = [&](std::string_view name, const std::string& value) { text += cli::line(name, value); };
  line("FLOPs", predicted.flops ? fmt::format("{:.4g}", *predicted.flops) : "unknown");
  line("arguments", bytes_text(predicted.compulsory_bytes));
  for (const auto& [level, bytes] : predicted.traffic_bytes) line("into " + level, bytes_text(bytes));
  if (const auto flops_per_byte = intensity(predicted)) line("intensity", fmt::format("{:.1f} FLOP/byte", *flops_per_byte));
  line("parallel tasks", predicted.parallel_tasks ? print_count(*predicted.parallel_tasks) : "unknown");
  line("peak intermediates", predicted.peak_intermediate_bytes ? bytes_text(*predicted.peak_intermediate_bytes) : "unknown");
  line("heap allocations", std::to_string(predicted.allocations));
  if (predicted.working_sets.empty()) return text;
  TextTable table;
  table.column("  one iteration of").column("touches", Align::right).column("fits in");
  for (const generators::LoopBytes& loop : predicted.working_sets) table.row({"  " + loop.loop, bytes_text(loop.bytes), fits_in(loop.bytes, device)});
  return text + table.print();
}

std::string print_actual(const Actual& actual, const Device& device) {
  return fmt::format(
      "actual, read from the machine code\n  {:<22}{} bits (the device has {})\n  {:<22}{} loads, {} stores\n  {:<22}{}\n  {:<22}{}\n", "widest vector",
      actual.vector_bits, 8 * device.vector_bytes, "stack inside loops", actual.loop_stack_loads, actual.loop_stack_stores, "code",
      bytes_text(actual.code_bytes), "stack frame", bytes_text(actual.stack_frame_bytes));
}

Json predicted_json(const std::optional<Predicted>& predicted) {
  if (!predicted) return nullptr;
  Json working_sets = Json::object();
  for (const generators::LoopBytes& loop : predicted->working_sets) working_sets[loop.loop] = loop.bytes;
  return {{"flops", or_null(predicted->flops)}, {"compulsory_bytes", predicted->compulsory_bytes}, {"traffic_bytes", predicted->traffic_bytes},
          {"working_set_bytes", working_sets}, {"peak_intermediate_bytes", or_null(predicted->peak_intermediate_bytes)},
          {"intensity", or_null(intensity(*predicted))}, {"parallel_tasks", or_null(predicted->parallel_tasks)}, {"allocations", predicted->allocations}};
}

Json closed_json(const Costs& costs, const Device& device) {
  if (!costs.closed.tree) return {{"why_not", costs.closed.why_not}};
  const FootprintTree& tree = *costs.closed.tree;
  Json crossing = Json::object(), touched = Json::object(), held = Json::object(), least = Json::object();
  for (const auto& [level, memory] : caches_of(device))
    if (const auto bytes = traffic(tree, memory)) crossing[level] = total(*bytes);
  for (const WorkingSet& set : working_sets(tree)) {
    touched[set.loop] = set.touched;
    held[set.loop] = set.held;
  }
  for (const auto& [level, known] : costs.least) least[level] = {{"bytes", known.bytes}, {"because", known.because}};
  return {{"kernels", tree.kernels}, {"flops", or_null(flops(tree))}, {"compulsory_bytes", compulsory_bytes(tree)}, {"traffic_bytes", crossing},
          {"least_traffic_bytes", least}, {"working_set_bytes", touched}, {"held_bytes", held},
          {"peak_intermediate_bytes", or_null(peak_intermediate_bytes(tree, device.cores))}, {"peak_live_bytes", peak_live_bytes(tree)},
          {"parallel_tasks", or_null(parallel_tasks(tree))}};
}

Json actual_json(const std::optional<Actual>& actual) {
  if (!actual) return nullptr;
  return {{"vector_bits", actual->vector_bits}, {"loop_stack_loads", actual->loop_stack_loads}, {"loop_stack_stores", actual->loop_stack_stores},
          {"code_bytes", actual->code_bytes}, {"stack_frame_bytes", actual->stack_frame_bytes}};
}

}  // namespace

std::string print_explanation(const Explanation& explanation) {
  const ExplainSubject& subject = explanation.subject;
  std::string text = print_head(subject, explanation.device);
  if (explanation.costs.closed.tree || !explanation.build.rejection) text += print_closed(explanation.costs) + "\n";  // else the rejection says why
  if (explanation.build.rejection) text += print_rejection(*explanation.build.rejection) + "\n";
  if (explanation.build.predicted) text += print_predicted(*explanation.build.predicted, explanation.device) + "\n";
  if (explanation.build.actual) text += print_actual(*explanation.build.actual, explanation.device) + "\n";
  if (explanation.known) text += print_known(*explanation.known) + "\n";
  text += fmt::format("binds: {}\n", explanation.advice.binds);
  for (const std::string& line : explanation.advice.lines) text += "advice: " + line + "\n";
  if (!explanation.advice.next.empty()) text += "next: " + explanation.advice.next + "\n";
  return text;
}

std::string explanation_json(const Explanation& explanation) {
  const ExplainSubject& subject = explanation.subject;
  Json bounds = Json::object();
  for (const Bound& bound : explanation.advice.bounds) bounds[bound.resource] = bound.cycles;
  Json json = head_json(subject, explanation.device);
  json.update({{"threads", explanation.threads},
               {"closed_forms", closed_json(explanation.costs, explanation.device)},
               {"predicted", predicted_json(explanation.build.predicted)},
               {"actual", actual_json(explanation.build.actual)},
               {"rejection", rejection_json(explanation.build.rejection)},
               {"known", known_json(explanation.known)},
               {"binds", explanation.advice.binds},
               {"bounds_cycles", bounds},
               {"advice", explanation.advice.lines},
               {"next", explanation.advice.next.empty() ? Json(nullptr) : Json(explanation.advice.next)}});
  return json.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
