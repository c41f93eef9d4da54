#include "autotune/cli/pages/explain_gpu.h"

#include <fmt/format.h>

#include "autotune/cli/pages/explain_parts.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {
namespace {

using generators::KernelResources;

std::string bytes_text(std::int64_t bytes) { return print_bytes(static_cast<double>(bytes)); }

// One table for both reports, so that what was predicted stands above what the compiler made.
std::string print_kernels(const generators::Build& build) {
  TextTable table;
  table.column("kernel").column("").column("threads", Align::right).column("blocks", Align::right).column("registers", Align::right);
  table.column("spilled", Align::right).column("shared", Align::right).column("blocks/SM", Align::right).column("occupancy", Align::right);
  table.column("waves", Align::right).column("in flight/SM", Align::right).column("code", Align::right);
  const auto row = [&table](const KernelResources& kernel, const char* report, const std::string& spilled) {
    table.row({kernel.name, report, print_count(kernel.threads), print_count(kernel.blocks), print_count(kernel.registers), spilled, bytes_text(kernel.shared_bytes),
               print_count(kernel.blocks_per_sm), print_percent(kernel.occupancy), print_count(kernel.waves), bytes_text(kernel.bytes_in_flight),
               kernel.code_bytes > 0 ? bytes_text(kernel.code_bytes) : "-"});
  };
  const std::size_t kernels = build.predicted ? build.predicted->kernels.size() : 0;
  for (std::size_t i = 0; i < kernels; ++i) {
    const KernelResources& predicted = build.predicted->kernels[i];
    row(predicted, "predicted", predicted.spill_bytes > 0 ? "yes" : "no");
    if (build.actual && i < build.actual->kernels.size()) row(build.actual->kernels[i], "compiled", bytes_text(build.actual->kernels[i].spill_bytes));
  }
  return table.is_empty() ? "" : table.print();
}

// The time that the arguments' bytes alone take, where the data sheet gives the memory's speed.
std::string print_least(const generators::Predicted& predicted, const Gpu& gpu) {
  std::string text = fmt::format("arguments             {}", bytes_text(predicted.compulsory_bytes));
  if (gpu.memory_bytes_per_s > 0)
    text += fmt::format(", {} at the memory's {:.2f} TB/s", print_ns(1e9 * static_cast<double>(predicted.compulsory_bytes) / static_cast<double>(gpu.memory_bytes_per_s)),
                        static_cast<double>(gpu.memory_bytes_per_s) * 1e-12);
  text += "\n";
  if (predicted.flops) text += fmt::format("FLOPs                 {:.4g}\n", *predicted.flops);
  return text;
}

std::string print_emulation(const Emulation& emulation) {
  if (emulation.rejection) return "in the emulator: " + print_rejection(*emulation.rejection);
  if (!emulation.too_large.empty()) return fmt::format("in the emulator: not run: {}\n", emulation.too_large);
  std::string problems;
  for (const Problem& problem : emulation.checked) problems += (problems.empty() ? "" : ", ") + print(problem);
  return fmt::format("in the emulator: right, in eight orders of threads and asynchronous operations, on {}\n", problems);
}

Json kernels_json(const std::vector<KernelResources>& kernels) {
  Json list = Json::array();
  for (const KernelResources& kernel : kernels)
    list.push_back({{"kernel", kernel.name},
                    {"threads", kernel.threads},
                    {"blocks", kernel.blocks},
                    {"registers", kernel.registers},
                    {"spill_bytes", kernel.spill_bytes},
                    {"shared_bytes", kernel.shared_bytes},
                    {"blocks_per_sm", kernel.blocks_per_sm},
                    {"occupancy", kernel.occupancy},
                    {"waves", kernel.waves},
                    {"bytes_in_flight", kernel.bytes_in_flight},
                    {"code_bytes", kernel.code_bytes}});
  return list;
}

Json emulation_json(const std::optional<Emulation>& emulation) {
  if (!emulation) return nullptr;
  Json checked = Json::array();
  for (const Problem& problem : emulation->checked) checked.push_back(print(problem));
  return {{"checked", checked},
          {"too_large", emulation->too_large.empty() ? Json(nullptr) : Json(emulation->too_large)},
          {"rejection", rejection_json(emulation->rejection)}};
}

}  // namespace

std::string print_explanation(const GpuExplanation& explanation) {
  const generators::Build& build = explanation.build;
  std::string text = print_head(explanation.subject, explanation.device);
  if (build.rejection) text += print_rejection(*build.rejection) + "\n";
  if (build.predicted) text += print_least(*build.predicted, *explanation.device.gpu) + "\n" + print_kernels(build) + "\n";
  text += print_times(explanation.times, *explanation.device.gpu, {explanation.expected_ns, explanation.known ? explanation.known->outcome.value_ns : std::nullopt});
  if (!explanation.text.empty()) text += explanation.text + "\n";
  if (explanation.emulation) text += print_emulation(*explanation.emulation);
  if (explanation.known) text += print_known(*explanation.known);
  return text;
}

std::string explanation_json(const GpuExplanation& explanation) {
  const generators::Build& build = explanation.build;
  Json json = head_json(explanation.subject, explanation.device);
  Json predicted = nullptr, actual = nullptr;
  if (build.predicted)
    predicted = {{"flops", or_null(build.predicted->flops)}, {"compulsory_bytes", build.predicted->compulsory_bytes}, {"kernels", kernels_json(build.predicted->kernels)}};
  if (build.actual) actual = {{"kernels", kernels_json(build.actual->kernels)}};
  json.update({{"predicted", predicted}, {"actual", actual}, {"times", times_json(explanation.times, *explanation.device.gpu)}, {"binds", binds_json(explanation.times)},
               {"rejection", rejection_json(build.rejection)}, {"text", explanation.text.empty() ? Json(nullptr) : Json(explanation.text)}, {"emulation", emulation_json(explanation.emulation)},
               {"known", known_json(explanation.known)}});
  return json.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
