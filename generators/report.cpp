#include "generators/report.h"

#include <nlohmann/json.hpp>

namespace kiln::generators {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Predicted, flops, compulsory_bytes, parallel_tasks, peak_intermediate_bytes, allocations, working_set_bytes,
                                   traffic_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Actual, vector_bits, loop_stack_loads, loop_stack_stores, code_bytes, stack_frame_bytes)

std::string to_json(const Predicted& report) { return nlohmann::json(report).dump(); }
std::string to_json(const Actual& report) { return nlohmann::json(report).dump(); }
Predicted predicted_from_json(const std::string& text) { return nlohmann::json::parse(text).get<Predicted>(); }
Actual actual_from_json(const std::string& text) { return nlohmann::json::parse(text).get<Actual>(); }

}  // namespace kiln::generators
