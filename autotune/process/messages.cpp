#include "autotune/process/messages.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

Digest digest_from_hex(const std::string& hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) throw DataError("a digest of " + std::to_string(hex.size()) + " digits came over the wire");
  for (std::size_t i = 0; i < digest.bytes.size(); ++i)
    if (std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, digest.bytes[i], 16).ptr != hex.data() + 2 * i + 2)
      throw DataError("a digest that is not hexadecimal came over the wire");
  return digest;
}

Json optional_number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

std::optional<double> optional_number_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(number_from(json));
}

}  // namespace

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const auto& word = json.get_ref<const std::string&>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  throw DataError("`" + word + "` came over the wire where a number belongs");
}

Json to_json(const Problem& problem) {
  return {{"operator", problem.operator_name}, {"extents", problem.extents}, {"params", problem.params},
          {"type", problem.type},              {"type_param", problem.type_param}, {"orders", problem.orders}, {"symbol_order", problem.symbol_order}};
}

Problem problem_from_json(const Json& json) {
  Problem problem;
  json.at("operator").get_to(problem.operator_name);
  json.at("extents").get_to(problem.extents);
  json.at("params").get_to(problem.params);
  json.at("type").get_to(problem.type);
  json.at("type_param").get_to(problem.type_param);
  json.at("orders").get_to(problem.orders);
  json.at("symbol_order").get_to(problem.symbol_order);
  return problem;
}

Json to_json(const ObjectRef& object) { return {{"hash", object.hash}, {"symbol", object.symbol}, {"target", object.target}}; }

ObjectRef object_from_json(const Json& json) {
  return {json.at("hash").get<std::string>(), json.at("symbol").get<std::string>(), json.at("target").get<std::string>()};
}

Json to_json(const std::optional<generators::Rejection>& rejection) {
  if (!rejection) return nullptr;
  return {{"reason", print(rejection->reason)},
          {"asked", optional_number(rejection->asked)},
          {"allowed", optional_number(rejection->allowed)},
          {"text", rejection->text}};
}

std::optional<generators::Rejection> rejection_from_json(const Json& json) {
  if (json.is_null()) return std::nullopt;
  generators::Rejection rejection;
  const auto reason = generators::parse_reason(json.at("reason").get<std::string>());
  if (!reason) throw DataError("rejection `" + json.at("reason").get<std::string>() + "` came over the wire");
  rejection.reason = *reason;
  rejection.asked = optional_number_from(json.at("asked"));
  rejection.allowed = optional_number_from(json.at("allowed"));
  json.at("text").get_to(rejection.text);
  return rejection;
}

Json to_json(const generators::Build& build) {
  return {{"key", build.key.hex()},
          {"rejection", to_json(build.rejection)},
          {"predicted", build.predicted ? Json(generators::to_json(*build.predicted)) : Json(nullptr)},
          {"actual", build.actual ? Json(generators::to_json(*build.actual)) : Json(nullptr)},
          {"directives", build.directives},
          {"lower_ms", build.lower_ms},
          {"compile_ms", build.compile_ms},
          {"log", build.log}};
}

generators::Build build_from_json(const Json& json) {
  generators::Build build;
  build.key = digest_from_hex(json.at("key").get<std::string>());
  build.rejection = rejection_from_json(json.at("rejection"));
  if (const Json& report = json.at("predicted"); !report.is_null()) build.predicted = generators::predicted_from_json(report.get<std::string>());
  if (const Json& report = json.at("actual"); !report.is_null()) build.actual = generators::actual_from_json(report.get<std::string>());
  json.at("directives").get_to(build.directives);
  json.at("lower_ms").get_to(build.lower_ms);
  json.at("compile_ms").get_to(build.compile_ms);
  json.at("log").get_to(build.log);
  return build;
}

Json error_to_json(const std::exception& error) {
  const char* kind = "other";
  if (dynamic_cast<const AlgorithmError*>(&error) != nullptr) kind = "algorithm";
  else if (dynamic_cast<const ScheduleError*>(&error) != nullptr) kind = "schedule";
  else if (dynamic_cast<const UsageError*>(&error) != nullptr) kind = "usage";
  else if (dynamic_cast<const EnvironmentError*>(&error) != nullptr) kind = "environment";
  else if (dynamic_cast<const DataError*>(&error) != nullptr) kind = "data";
  return {{"class", kind}, {"text", error.what()}};
}

void throw_error(const Json& json) {
  const std::string kind = json.at("class").get<std::string>(), text = json.at("text").get<std::string>();
  if (kind == "algorithm") throw AlgorithmError(text);
  if (kind == "schedule") throw ScheduleError(text);
  if (kind == "usage") throw UsageError(text);
  if (kind == "environment") throw EnvironmentError(text);
  if (kind == "data") throw DataError(text);
  throw Error(text);
}

}  // namespace kiln::autotune
