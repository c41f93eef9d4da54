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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Actual, vector_bits, loop_stack_loads, loop_stack_stores, code_bytes, stack_frame_bytes)

std::string to_json(const Predicted& report) {
  return Json{{"flops", optional_json(report.flops)},
              {"compulsory_bytes", report.compulsory_bytes},
              {"parallel_tasks", optional_json(report.parallel_tasks)},
              {"peak_intermediate_bytes", optional_json(report.peak_intermediate_bytes)},
              {"allocations", report.allocations},
              {"working_sets", report.working_sets},
              {"traffic_bytes", report.traffic_bytes}}
      .dump();
}

std::string to_json(const Actual& report) { return Json(report).dump(); }

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
    return report;
  });
}

Actual actual_from_json(const std::string& text) {
  return read_report("compiler's", text, [](const Json& json) { return json.get<Actual>(); });
}

}  // namespace kiln::generators
