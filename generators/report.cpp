#include "generators/report.h"

#include <nlohmann/json.hpp>

#include "dsl/error.h"

namespace kiln::generators {
namespace {

using Json = nlohmann::json;

template <typename Value>
Json optional_json(const std::optional<Value>& value) { return value ? Json(*value) : Json(nullptr); }

template <typename Value>
std::optional<Value> optional_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return json.get<Value>();
}

// The store may hold a damaged text: that is the store's failure, named.
template <typename Read>
auto read_report(const char* what, const std::string& text, const Read& read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw DataError(std::string("a stored ") + what + " report cannot be read: " + error.what());
  }
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoopBytes, loop, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelResources, name, threads, blocks, registers, spill_bytes, shared_bytes, blocks_per_sm, occupancy, waves, bytes_in_flight,
                                   code_bytes)

namespace {

// A CPU's reports have no kernels, and no word of them.
Json with_kernels(Json report, const std::vector<KernelResources>& kernels) {
  if (!kernels.empty()) report["kernels"] = kernels;
  return report;
}

std::vector<KernelResources> kernels_from(const Json& report) {
  return report.contains("kernels") ? report.at("kernels").get<std::vector<KernelResources>>() : std::vector<KernelResources>();
}

}  // namespace

std::string to_json(const Predicted& report) {
  const Json json{{"flops", optional_json(report.flops)},
              {"compulsory_bytes", report.compulsory_bytes},
              {"parallel_tasks", optional_json(report.parallel_tasks)},
              {"peak_intermediate_bytes", optional_json(report.peak_intermediate_bytes)},
              {"allocations", report.allocations},
              {"working_sets", report.working_sets},
              {"traffic_bytes", report.traffic_bytes}};
  return with_kernels(json, report.kernels).dump();
}

std::string to_json(const Actual& report) {
  const Json json{{"vector_bits", report.vector_bits},
                  {"loop_stack_loads", report.loop_stack_loads},
                  {"loop_stack_stores", report.loop_stack_stores},
                  {"code_bytes", report.code_bytes},
                  {"stack_frame_bytes", report.stack_frame_bytes}};
  return with_kernels(json, report.kernels).dump();
}

Predicted predicted_from_json(const std::string& text) {
  return read_report("predicted", text, [](const Json& json) {
    Predicted report;
    report.flops = optional_from<double>(json.at("flops"));
    json.at("compulsory_bytes").get_to(report.compulsory_bytes);
    report.parallel_tasks = optional_from<std::int64_t>(json.at("parallel_tasks"));
    report.peak_intermediate_bytes = optional_from<std::int64_t>(json.at("peak_intermediate_bytes"));
    json.at("allocations").get_to(report.allocations);
    json.at("working_sets").get_to(report.working_sets);
    json.at("traffic_bytes").get_to(report.traffic_bytes);
    report.kernels = kernels_from(json);
    return report;
  });
}

Actual actual_from_json(const std::string& text) {
  return read_report("compiler's", text, [](const Json& json) {
    Actual report;
    json.at("vector_bits").get_to(report.vector_bits);
    json.at("loop_stack_loads").get_to(report.loop_stack_loads);
    json.at("loop_stack_stores").get_to(report.loop_stack_stores);
    json.at("code_bytes").get_to(report.code_bytes);
    json.at("stack_frame_bytes").get_to(report.stack_frame_bytes);
    report.kernels = kernels_from(json);
    return report;
  });
}

}  // namespace kiln::generators
