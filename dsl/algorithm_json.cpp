// An Algorithm as one JSON document and back: expressions in their prefix form, serialized pipelines in base64.

#include <fmt/format.h>
#include <mbedtls/base64.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "dsl/algorithm.h"
#include "dsl/error.h"

namespace kiln {
namespace {

using Json = nlohmann::json;

std::string to_base64(const std::string& bytes) {
  const auto* source = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t length = 0;
  mbedtls_base64_encode(nullptr, 0, &length, source, bytes.size());
  std::string text(length, '\0');
  const int code = mbedtls_base64_encode(reinterpret_cast<unsigned char*>(text.data()), text.size(), &length, source, bytes.size());
  KILN_CHECK(code == 0, fmt::format("mbedtls_base64_encode returned {}", code));
  text.resize(length);
  return text;
}

std::string from_base64(const std::string& text, const char* field) {
  std::string bytes(text.size(), '\0');
  std::size_t length = 0;
  const int code = mbedtls_base64_decode(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), &length,
                                         reinterpret_cast<const unsigned char*>(text.data()), text.size());
  if (code != 0) throw DataError(fmt::format("algorithm: '{}' is not base64", field));
  bytes.resize(length);
  return bytes;
}

// Not a number and infinities have no JSON number; they travel as words.
Json number(double value) {
  if (std::numeric_limits<double>::lowest() <= value && value <= std::numeric_limits<double>::max()) return value;
  return fmt::format("{}", value);
}

Json expressions(const std::vector<ExpressionPtr>& list) {
  Json result = Json::array();
  for (const ExpressionPtr& e : list) result.push_back(print(*e));
  return result;
}

Json write(const Argument& a) {
  Json json{{"name", a.name}, {"is_output", a.is_output}, {"is_scalar", a.is_scalar}, {"type", print(a.type)}, {"rank", a.rank}};
  json["estimates"] = Json::array();
  for (const std::optional<Interval>& e : a.estimates) json["estimates"].push_back(e ? Json{e->min, e->extent} : Json());
  json["scalar_estimate"] = a.scalar_estimate ? number(*a.scalar_estimate) : Json();
  json["values"] = Json::array();
  for (const double value : a.values) json["values"].push_back(number(value));
  json["range"] = a.range ? Json{number(a.range->first), number(a.range->second)} : Json();
  return json;
}

Json write(const Update& update) {
  Json json{{"indices", expressions(update.indices)}, {"values", expressions(update.values)}};
  json["reduction"] = Json::array();
  for (const ReductionVariable& r : update.reduction)
    json["reduction"].push_back({{"name", r.name}, {"min", print(*r.min)}, {"extent", print(*r.extent)}});
  json["predicate"] = update.predicate ? Json(print(*update.predicate)) : Json();
  return json;
}

Json write(const Stage& stage) {
  Json json{{"name", stage.name}, {"loops", stage.loops}, {"values", expressions(stage.values)}};
  json["types"] = Json::array();
  for (const DType type : stage.types) json["types"].push_back(print(type));
  json["updates"] = Json::array();
  for (const Update& update : stage.updates) json["updates"].push_back(write(update));
  return json;
}

// Reads fields of one object; a missing or mistyped one is a DataError that names it.
class Reader {
 public:
  Reader(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  template <typename Value>
  Value get(const char* field) const {
    try {
      return at(field).get<Value>();
    } catch (const Json::exception&) {
      fail(field, "has the wrong type");
    }
  }

  const Json& at(const char* field) const {
    if (!json_.is_object() || !json_.contains(field)) fail(field, "is missing");
    return json_.at(field);
  }

  const Json& list(const char* field) const {
    const Json& result = at(field);
    if (!result.is_array()) fail(field, "is not an array");
    return result;
  }

  Reader inside(const Json& json, const char* field, std::size_t index) const { return {json, fmt::format("{}{}[{}].", place_, field, index)}; }

  DType type(const Json& json, const char* field) const {
    const std::optional<DType> known = json.is_string() ? parse_dtype(json.get<std::string>()) : std::nullopt;
    if (!known) fail(field, fmt::format("names no type: {}", json.dump()));
    return *known;
  }

  double number(const Json& json, const char* field) const {
    if (json.is_number()) return json.get<double>();
    if (json == "inf") return std::numeric_limits<double>::infinity();
    if (json == "-inf") return -std::numeric_limits<double>::infinity();
    if (json == "nan" || json == "-nan") return std::numeric_limits<double>::quiet_NaN();
    fail(field, fmt::format("is no number: {}", json.dump()));
  }

  ExpressionPtr expression(const Json& json, const char* field) const {
    if (!json.is_string()) fail(field, "is not an expression's text");
    try {
      return parse_expression(json.get<std::string>());
    } catch (const DataError& error) {
      fail(field, error.what());
    }
  }

  std::vector<ExpressionPtr> expressions(const char* field) const {
    std::vector<ExpressionPtr> result;
    for (const Json& text : list(field)) result.push_back(expression(text, field));
    return result;
  }

  [[noreturn]] void fail(const char* field, const std::string& what) const {
    throw DataError(fmt::format("algorithm: '{}{}' {}", place_, field, what));
  }

 private:
  const Json& json_;
  std::string place_;
};

Argument read_argument(const Reader& in) {
  Argument a;
  a.name = in.get<std::string>("name");
  a.is_output = in.get<bool>("is_output");
  a.is_scalar = in.get<bool>("is_scalar");
  a.type = in.type(in.at("type"), "type");
  a.rank = in.get<int>("rank");
  for (const Json& e : in.list("estimates")) {
    if (e.is_null())
      a.estimates.push_back(std::nullopt);
    else if (e.is_array() && e.size() == 2 && e[0].is_number_integer() && e[1].is_number_integer())
      a.estimates.push_back(Interval{e[0].get<std::int64_t>(), e[1].get<std::int64_t>()});
    else
      in.fail("estimates", "holds something other than null or [min, extent]");
  }
  if (!in.at("scalar_estimate").is_null()) a.scalar_estimate = in.number(in.at("scalar_estimate"), "scalar_estimate");
  for (const Json& value : in.list("values")) a.values.push_back(in.number(value, "values"));
  if (const Json& range = in.at("range"); !range.is_null()) {
    if (!range.is_array() || range.size() != 2) in.fail("range", "is not [from, to]");
    a.range = {in.number(range[0], "range"), in.number(range[1], "range")};
  }
  return a;
}

Update read_update(const Reader& in) {
  Update update;
  update.indices = in.expressions("indices");
  update.values = in.expressions("values");
  std::size_t index = 0;
  for (const Json& json : in.list("reduction")) {
    const Reader r = in.inside(json, "reduction", index++);
    update.reduction.push_back({r.get<std::string>("name"), r.expression(r.at("min"), "min"), r.expression(r.at("extent"), "extent")});
  }
  if (const Json& predicate = in.at("predicate"); !predicate.is_null()) update.predicate = in.expression(predicate, "predicate");
  return update;
}

Stage read_stage(const Reader& in) {
  Stage stage;
  stage.name = in.get<std::string>("name");
  stage.loops = in.get<std::vector<std::string>>("loops");
  for (const Json& type : in.list("types")) stage.types.push_back(in.type(type, "types"));
  stage.values = in.expressions("values");
  std::size_t index = 0;
  for (const Json& json : in.list("updates")) stage.updates.push_back(read_update(in.inside(json, "updates", index++)));
  return stage;
}

std::map<std::string, std::vector<Axis>> read_symbols(const Reader& in) {
  std::map<std::string, std::vector<Axis>> symbols;
  if (!in.at("symbols").is_object()) in.fail("symbols", "is not an object");
  for (const auto& [symbol, axes] : in.at("symbols").items())
    for (const Json& axis : axes) {
      if (!axis.is_array() || axis.size() != 2 || !axis[0].is_string() || !axis[1].is_number_integer())
        in.fail("symbols", "holds something other than [argument, dimension]");
      symbols[symbol].push_back({axis[0].get<std::string>(), axis[1].get<int>()});
    }
  return symbols;
}

}  // namespace

std::string to_json(const Algorithm& algorithm) {
  Json json{{"generator", algorithm.generator},
            {"params", algorithm.params},
            {"default_params", algorithm.default_params},
            {"type_param", algorithm.type_param},
            {"contract", print(algorithm.contract)},
            {"symbol_order", algorithm.symbol_order},
            {"outlier_fraction", algorithm.outlier_fraction},
            {"requirements", expressions(algorithm.requirements)},
            {"outputs", algorithm.outputs},
            {"halide_version", algorithm.halide_version},
            {"pipeline", to_base64(algorithm.pipeline)},
            {"own_pipeline", to_base64(algorithm.own_pipeline)},
            {"own_schedule_absent", algorithm.own_schedule_absent}};
  if (algorithm.leaves_out_default_type) json["leaves_out_default_type"] = true;  // stores from before have no such field
  json["arguments"] = Json::array();
  for (const Argument& argument : algorithm.arguments) json["arguments"].push_back(write(argument));
  json["symbols"] = Json::object();
  for (const auto& [symbol, axes] : algorithm.symbols)
    for (const Axis& axis : axes) json["symbols"][symbol].push_back({axis.argument, axis.dimension});
  json["stages"] = Json::array();
  for (const Stage& stage : algorithm.stages) json["stages"].push_back(write(stage));
  // A plugin's names may be any bytes; what is not UTF-8 is replaced rather than refused.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Algorithm algorithm_from_json(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw DataError("algorithm: the text is not JSON");
  const Reader in(json, "");
  Algorithm a;
  a.generator = in.get<std::string>("generator");
  a.params = in.get<std::map<std::string, std::string>>("params");
  a.default_params = in.get<std::map<std::string, std::string>>("default_params");
  a.type_param = in.get<std::string>("type_param");
  a.leaves_out_default_type = json.contains("leaves_out_default_type") && in.get<bool>("leaves_out_default_type");
  const std::optional<Contract> contract = parse_contract(in.get<std::string>("contract"));
  if (!contract) in.fail("contract", "names no contract");
  a.contract = *contract;
  std::size_t index = 0;
  for (const Json& argument : in.list("arguments")) a.arguments.push_back(read_argument(in.inside(argument, "arguments", index++)));
  a.symbols = read_symbols(in);
  a.symbol_order = in.get<std::vector<std::string>>("symbol_order");
  a.outlier_fraction = in.get<double>("outlier_fraction");
  index = 0;
  for (const Json& stage : in.list("stages")) a.stages.push_back(read_stage(in.inside(stage, "stages", index++)));
  a.requirements = in.expressions("requirements");
  a.outputs = in.get<std::vector<std::string>>("outputs");
  a.halide_version = in.get<std::string>("halide_version");
  a.pipeline = from_base64(in.get<std::string>("pipeline"), "pipeline");
  a.own_pipeline = from_base64(in.get<std::string>("own_pipeline"), "own_pipeline");
  a.own_schedule_absent = in.get<std::string>("own_schedule_absent");
  return a;
}

}  // namespace kiln
