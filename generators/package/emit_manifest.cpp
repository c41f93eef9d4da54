// The manifest: which stored decision serves which call, and on what evidence. Canonical JSON: sorted keys, time stamps only beside times.
#include <nlohmann/json.hpp>

#include "dsl/digest.h"
#include "generators/package/emit.h"
#include "generators/package/spelling.h"
#include "generators/package/target_features.h"
#include "generators/runtime/set_numbers.h"

namespace kiln::generators::package {

namespace {

using Json = nlohmann::json;  // keeps keys sorted

Json to_json(const Entry& entry, const PackageArgument& argument) {
  Json json = {{"name", argument.name}, {"dtype", print(argument.type)}, {"role", argument.is_output ? "output" : argument.is_scalar ? "scalar" : "input"}};
  if (argument.is_scalar) return json;
  Json shape = Json::array();
  for (int d = argument.rank - 1; d >= 0; --d) shape.push_back(dimension_name(entry, argument, d));
  json["rank"] = argument.rank;
  json["shape"] = shape;  // as a DLTensor: outermost first
  json["unit_stride"] = argument.rank - 1 - argument.unit_dimension;
  return json;
}

Json to_json(const Measured& m) {
  return {{"problem", m.problem}, {"protocol", m.protocol}, {"device", m.device},   {"when", m.when},           {"threads", m.threads},    {"samples", m.samples},
          {"value_ns", m.value_ns}, {"baseline", m.baseline}, {"ratio", m.ratio}, {"ratio_low", m.ratio_low}, {"ratio_high", m.ratio_high}};
}

Json guard_json(const Variant& variant) {
  Json extents = Json::object(), alignment = Json::object();
  for (const ExtentGuard& guard : variant.extents) extents[guard.symbol] = {guard.least, guard.most};
  for (const auto& [argument, bytes] : variant.alignment_bytes) alignment[argument] = bytes;
  if (variant.launches) {
    Json lengths = Json::array();
    for (const cuda::LaunchGuard& guard : variant.launches->guards)
      lengths.push_back({{"argument", guard.length.place.argument}, {"dimension", guard.length.place.dimension}, {"multiple", guard.multiple},
                         {"at_most", guard.at_most}, {"exactly", guard.exactly}});
    return {{"extents", extents}, {"alignment_bytes", alignment}, {"alias", "none"}, {"dense", true}, {"lengths", lengths}, {"gpu", gpu_target(variant.target).arch}};
  }
  return {{"extents", extents}, {"alignment_bytes", alignment}, {"alias", variant.is_pointwise ? "same_view" : "none"}, {"bounds_query", true},
          {"cpu_features", feature_names(required_features(variant.target))}};
}

Json to_json(const Variant& variant) {
  Json measured = Json::array(), verified = Json::array();
  for (const Measured& m : variant.measured) measured.push_back(to_json(m));
  for (const Verified& v : variant.verified) verified.push_back({{"problem", v.problem}, {"what", v.what}, {"max_error", v.max_error}});
  return {{"tier", print(variant.tier)}, {"candidate", variant.candidate}, {"schedule", variant.schedule}, {"target", variant.target},
          {"object", content_digest(variant.object).hex()}, {"object_bytes", variant.object.size()}, {"guard", guard_json(variant)},
          {"calls", variant.calls}, {"measured", measured}, {"verified", verified}};
}

Json to_json(const KernelSet& set, const Entry& entry) {
  Json arguments = Json::array(), symbols = Json::array(), variants = Json::array();
  for (const PackageArgument& argument : entry.arguments) arguments.push_back(to_json(entry, argument));
  for (const PackageSymbol& symbol : entry.symbols) symbols.push_back(symbol.name);
  for (const Variant& variant : entry.variants) variants.push_back(to_json(variant));
  return {{"name", entry.c_name}, {"function", function_name(set, entry)}, {"operator", entry.operator_name}, {"params", entry.params}, {"type", entry.type},
          {"orders", entry.orders}, {"arguments", arguments}, {"symbols", symbols}, {"variants", variants}};
}

}  // namespace

std::string emit_manifest(const KernelSet& set) {
  Json entries = Json::array();
  for (const Entry& entry : set.entries) entries.push_back(to_json(set, entry));
  const Json manifest = {{"format", "kiln-kernelset"}, {"version", 1}, {"set", set.name}, {"set_version", set.version}, {"abi", static_cast<int>(KILN_SET_ABI)},
                         {"threads", set.threads}, {"made_with", set.provenance}, {"entries", entries}};
  return manifest.dump(2) + "\n";
}

}  // namespace kiln::generators::package
