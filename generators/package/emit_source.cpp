// The C source of a set: constant tables over generators/runtime/set.h, and one thin function for each of the header's.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "generators/package/emit.h"
#include "generators/package/spelling.h"
#include "generators/package/target_features.h"

namespace kiln::generators::package {

namespace {

int argument_index(const Entry& entry, const std::string& name) {
  const auto found = std::find_if(entry.arguments.begin(), entry.arguments.end(), [&](const PackageArgument& a) { return a.name == name; });
  return static_cast<int>(found - entry.arguments.begin());
}

int symbol_index(const Entry& entry, const std::string& name) {
  const auto found = std::find_if(entry.symbols.begin(), entry.symbols.end(), [&](const PackageSymbol& s) { return s.name == name; });
  return static_cast<int>(found - entry.symbols.begin());
}

const char* type_code(DType type) {
  switch (type.kind) {
    case TypeClass::signed_int: return "KILN_TYPE_INT";
    case TypeClass::unsigned_int: return "KILN_TYPE_UINT";
    case TypeClass::ieee_float: return "KILN_TYPE_FLOAT";
    case TypeClass::brain_float: return "KILN_TYPE_BFLOAT";
  }
  return "";
}

std::string arguments_table(const Entry& entry) {
  std::string text = fmt::format("static const kiln_argument {}_arguments[] = {{\n", entry.c_name);
  int first_dimension = 0;
  for (const PackageArgument& argument : entry.arguments) {
    text += fmt::format("    {{.name = \"{}\", {}{}.type_code = {}, .type_bits = {}, .rank = {}, .unit_dimension = {}, .first_dimension = {}}},\n",
                        argument.name, argument.is_output ? ".is_output = 1, " : "", argument.is_scalar ? ".is_scalar = 1, " : "",
                        type_code(argument.type), argument.type.bits, argument.rank, argument.unit_dimension, first_dimension);
    first_dimension += argument.rank;
  }
  return text + "};\n";
}

std::string symbols_table(const Entry& entry) {
  std::string axes, symbols;
  int index = 0;
  for (const PackageSymbol& symbol : entry.symbols) {
    axes += fmt::format("static const kiln_axis {}_axes_{}[] = {{", entry.c_name, index);
    for (std::size_t i = 0; i < symbol.axes.size(); ++i) {
      axes += fmt::format("{}{{{}, {}}}", i ? ", " : "", argument_index(entry, symbol.axes[i].argument), symbol.axes[i].dimension);
    }
    axes += fmt::format("}}; /* {} */\n", symbol.name);
    symbols += fmt::format("    {{.name = \"{0}\", .axes = {1}_axes_{2}, .axis_count = {3}}},\n", c_escaped(symbol.name), entry.c_name, index, symbol.axes.size());
    ++index;
  }
  if (symbols.empty()) return "";
  return axes + fmt::format("static const kiln_symbol {}_symbols[] = {{\n{}}};\n", entry.c_name, symbols);
}

std::string guard_tables(const Entry& entry, const Variant& variant, std::size_t index) {
  std::string text;
  for (const ExtentGuard& guard : variant.extents) {
    text += fmt::format("{}{{{}, INT64_C({}), INT64_C({})}}", text.empty() ? "" : ", ", symbol_index(entry, guard.symbol), guard.least, guard.most);
  }
  if (!text.empty()) text = fmt::format("static const kiln_extent_guard {}_extents_{}[] = {{{}}};\n", entry.c_name, index, text);
  text += fmt::format("static const int32_t {}_alignment_{}[] = {{", entry.c_name, index);
  for (std::size_t a = 0; a < entry.arguments.size(); ++a) {
    const PackageArgument& argument = entry.arguments[a];
    const auto given = variant.alignment_bytes.find(argument.name);
    const int element = argument.is_scalar ? 1 : argument.type.bytes();
    text += fmt::format("{}{}", a ? ", " : "", given == variant.alignment_bytes.end() ? element : std::max(element, given->second));
  }
  return text + "};\n";
}

// { argument, dimension, constant }
std::string length_text(const Entry& entry, const cuda::Length& length) {
  if (length.place.argument.empty()) return fmt::format("{{-1, 0, INT64_C({})}}", length.constant);
  return fmt::format("{{{}, {}, 0}}", argument_index(entry, length.place.argument), length.place.dimension);
}

// A table of lengths, named; nothing for an empty one.
std::string lengths_table(const Entry& entry, const std::string& name, const std::vector<cuda::Length>& lengths) {
  std::string text;
  for (const cuda::Length& length : lengths) text += (text.empty() ? "" : ", ") + length_text(entry, length);
  return text.empty() ? "" : fmt::format("static const kiln_length {}[] = {{{}}};\n", name, text);
}

// The place of a buffer between kernels; -1 where the name is an argument's.
std::ptrdiff_t between_index(const cuda::LaunchRecord& record, const std::string& name) {
  const auto between = std::find_if(record.intermediates.begin(), record.intermediates.end(), [&](const auto& buffer) { return buffer.name == name; });
  return between == record.intermediates.end() ? -1 : between - record.intermediates.begin();
}

// CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion.
int type_number(DType type) { return type == kFloat32 ? 7 : type.kind == TypeClass::brain_float ? 9 : type.kind == TypeClass::ieee_float ? 6 : 0; }
int place_of(int bytes, const std::array<int, 4>& choices) { return static_cast<int>(std::find(choices.begin(), choices.end(), bytes) - choices.begin()); }

std::string map_table(const std::string& name, const cuda::LaunchParameter& parameter, bool is_between) {
  const cuda::TensorTile& tile = parameter.tile;
  return fmt::format("static const kiln_cuda_map {} = {{.type = {}, .element_bytes = {}, .is_between = {}, .box = {{{}, {}}}, .swizzle = {}, .l2_promotion = {}}};\n", name,
                     type_number(parameter.type), parameter.type.bytes(), is_between ? 1 : 0, tile.box[0], tile.box[1], place_of(tile.swizzle_bytes, {0, 32, 64, 128}),
                     place_of(tile.l2_promotion_bytes, {0, 64, 128, 256}));
}

std::string parameter_row(const Entry& entry, const cuda::LaunchRecord& record, const cuda::LaunchParameter& parameter, const std::string& lengths) {
  using Kind = cuda::LaunchParameter::Kind;
  if (parameter.kind == Kind::scalar) return fmt::format("    {{.kind = KILN_PARAMETER_SCALAR, .place = {}}},\n", argument_index(entry, parameter.name));
  const std::ptrdiff_t between = between_index(record, parameter.name);
  if (parameter.kind == Kind::map)
    return fmt::format("    {{.kind = KILN_PARAMETER_MAP, .place = {}, .lengths = {}, .count = {}, .map = &{}_map}},\n", between < 0 ? argument_index(entry, parameter.name) : between, lengths,
                       parameter.counts.size(), lengths);
  if (parameter.kind == Kind::buffer && between < 0) return fmt::format("    {{.kind = KILN_PARAMETER_BUFFER, .place = {}}},\n", argument_index(entry, parameter.name));
  if (parameter.kind == Kind::buffer) return fmt::format("    {{.kind = KILN_PARAMETER_BETWEEN, .place = {}}},\n", between);
  return fmt::format("    {{.kind = KILN_PARAMETER_{}, .lengths = {}, .count = {}}},\n", parameter.kind == Kind::count32 ? "COUNT32" : "COUNT64",
                     parameter.counts.empty() ? "NULL" : lengths, parameter.counts.size());
}

// One kernel's tables, and its row in the program's.
std::string kernel_tables(const Entry& entry, const cuda::LaunchRecord& record, const cuda::KernelLaunch& kernel, const std::string& prefix, std::string& row) {
  std::string text, grid, parameters;
  for (std::size_t i = 0; i < kernel.grid.size(); ++i) {
    const std::string name = fmt::format("{}_grid_{}", prefix, i);
    text += lengths_table(entry, name, kernel.grid[i].lengths);
    grid += fmt::format("{}{{{}, {}, INT64_C({})}}", i ? ", " : "", kernel.grid[i].lengths.empty() ? "NULL" : name, kernel.grid[i].lengths.size(), kernel.grid[i].per_block);
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const std::string name = fmt::format("{}_count_{}", prefix, i);
    const cuda::LaunchParameter& parameter = kernel.parameters[i];
    text += lengths_table(entry, name, parameter.counts);
    if (parameter.kind == cuda::LaunchParameter::Kind::map) text += map_table(name + "_map", parameter, between_index(record, parameter.name) >= 0);
    parameters += parameter_row(entry, record, kernel.parameters[i], name);
  }
  text += fmt::format("static const kiln_cuda_grid {0}_grid[] = {{{1}}};\nstatic const kiln_cuda_parameter {0}_parameters[] = {{\n{2}}};\n", prefix, grid, parameters);
  row = fmt::format(
      "    {{.name = \"{0}\", .threads = {1}, .cluster = {2}, .shared_bytes = {3}, .is_dependent = {4},\n"
      "     .grid = {5}_grid, .grid_count = {6}, .parameters = {5}_parameters, .parameter_count = {7}{8}}},\n",
      kernel.name, kernel.threads, kernel.cluster, kernel.shared_bytes, kernel.is_dependent ? 1 : 0, prefix, kernel.grid.size(), kernel.parameters.size(),
      kernel.blocks_per_sm > 0 ? fmt::format(", .blocks_per_sm = {}", kernel.blocks_per_sm) : "");
  return text;
}

std::string betweens_table(const Entry& entry, const cuda::LaunchRecord& record, const std::string& prefix) {
  std::string text, rows;
  for (std::size_t i = 0; i < record.intermediates.size(); ++i) {
    const cuda::IntermediateBuffer& buffer = record.intermediates[i];
    const std::string name = fmt::format("{}_between_{}", prefix, i);
    text += lengths_table(entry, name, buffer.lengths);
    rows += fmt::format("    {{.lengths = {}, .count = {}, .element_bytes = {}}}, /* {} */\n", buffer.lengths.empty() ? "NULL" : name, buffer.lengths.size(),
                        buffer.element_bytes, buffer.name);
  }
  return rows.empty() ? "" : text + fmt::format("static const kiln_cuda_between {}_betweens[] = {{\n{}}};\n", prefix, rows);
}

// "cuda-sm_90a": 9, 0, and whether no other minor will do.
std::string capability_fields(const std::string& target) {
  const GpuTarget gpu = gpu_target(target);
  return fmt::format(".arch = \"{}\", .major = {}, .minor = {}, .is_of_one_capability = {}", gpu.arch, gpu.major, gpu.minor, gpu.is_of_one_capability ? 1 : 0);
}

// How the cubin's kernels are called, as one program over the entry's arguments.
std::string program_tables(const Entry& entry, const Variant& variant, std::size_t index) {
  const cuda::LaunchRecord& record = *variant.launches;
  const std::string prefix = "kernel_" + std::to_string(index);
  std::string text = fmt::format("extern const unsigned char {}_cubin[];\n", prefix), kernels, guards;
  for (std::size_t k = 0; k < record.kernels.size(); ++k) {
    std::string row;
    text += kernel_tables(entry, record, record.kernels[k], fmt::format("{}_{}", prefix, k), row);
    kernels += row;
  }
  text += fmt::format("static const kiln_cuda_kernel {}_kernels[] = {{\n{}}};\n", prefix, kernels) + betweens_table(entry, record, prefix);
  for (const cuda::LaunchGuard& guard : record.guards)
    guards += fmt::format("    {{.length = {}, .multiple = {}, .at_most = INT64_C({}), .exactly = INT64_C({})}},\n", length_text(entry, guard.length), guard.multiple,
                          guard.at_most, guard.exactly);
  if (!guards.empty()) text += fmt::format("static const kiln_cuda_guard {}_guards[] = {{\n{}}};\n", prefix, guards);
  return text + fmt::format("static _Atomic(kiln_cuda_loaded*) {0}_loaded[KILN_CUDA_DEVICES];\n"
                            "static const kiln_cuda_program {0} = {{.functions = &kiln_cuda, .cubin = {0}_cubin, {1},\n    .kernels = {0}_kernels, .kernel_count = {2}, {3}{4}.loaded = {0}_loaded}};\n",
                            prefix, capability_fields(variant.target), record.kernels.size(),
                            record.intermediates.empty() ? "" : fmt::format(".betweens = {}_betweens, .between_count = {}, ", prefix, record.intermediates.size()),
                            guards.empty() ? "" : fmt::format(".guards = {}_guards, .guard_count = {}, ", prefix, record.guards.size()));
}

std::string features_expression(const Variant& variant) {
  std::string text;
  if (variant.launches) return "0";
  for (const std::string& name : feature_names(required_features(variant.target))) text += (text.empty() ? "" : " | ") + ("KILN_CPU_BIT(" + name + ")");
  return text.empty() ? "0" : text;
}

std::string variant_row(const Entry& entry, const Variant& variant, std::size_t index, std::size_t kernel) {
  std::string text = fmt::format("    {{.{} = {}kernel_{}, .tier = KILN_TIER_{},\n     .features = {},\n", variant.launches ? "cuda" : "kernel", variant.launches ? "&" : "",
                                 kernel, upper(print(variant.tier)), features_expression(variant));
  if (!variant.extents.empty()) text += fmt::format("     .extents = {}_extents_{}, .extent_count = {},\n", entry.c_name, index, variant.extents.size());
  return text + fmt::format("     .alignment_bytes = {}_alignment_{}, .is_pointwise = {}, .candidate = \"{}\"}},\n", entry.c_name, index,
                            variant.is_pointwise ? 1 : 0, c_escaped(variant.candidate));
}

std::string variants_table(const Entry& entry, const std::vector<KernelObject>& objects) {
  std::string tables, rows;
  for (std::size_t v = 0; v < entry.variants.size(); ++v) {
    tables += guard_tables(entry, entry.variants[v], v);
    rows += variant_row(entry, entry.variants[v], v, object_index(objects, entry, entry.variants[v]));
  }
  return tables + fmt::format("static const kiln_variant {}_variants[] = {{\n{}}};\n", entry.c_name, rows);
}

std::string counters(const Entry& entry) {
  return fmt::format(
      "static kiln_call_slot {0}_slots[KILN_CALL_SLOTS];\n"
      "static int64_t {0}_keys[KILN_CALL_SLOTS * {1}];\n"
      "static kiln_calls {0}_calls = {{.slots = {0}_slots, .keys = {0}_keys}};\n",
      entry.c_name, std::max<std::size_t>(1, entry.symbols.size()));
}

std::string entries_table(const KernelSet& set) {
  std::string text = "enum {";
  for (const Entry& entry : set.entries) text += (text.back() == '{' ? " " : ", ") + entry.c_name + "_entry";
  text += " };\n\nstatic const kiln_entry entries[] = {\n";
  for (const Entry& entry : set.entries) {
    text += fmt::format(
        "    {{.name = \"{0}\", .operator_name = \"{1}\", .problem_tail = \"{2}\",\n"
        "     .arguments = {0}_arguments, .argument_count = {3}, {4}.symbol_count = {5},\n"
        "     .variants = {0}_variants, .variant_count = {6}, .calls = &{0}_calls}},\n",
        entry.c_name, c_escaped(entry.operator_name), c_escaped(problem_tail(entry)), entry.arguments.size(),
        entry.symbols.empty() ? "" : ".symbols = " + entry.c_name + "_symbols, ", entry.symbols.size(), entry.variants.size());
  }
  return text + fmt::format("}};\nstatic const kiln_set this_set = {{.name = \"{}\", .threads = {}, .entries = entries, .entry_count = {}}};\n\n", set.name,
                            set.threads, set.entries.size());
}

constexpr const char* kLayoutChecks = R"(_Static_assert(sizeof($_opts) == sizeof(kiln_options) && offsetof($_opts, warn_user) == offsetof(kiln_options, warn_user), "options");
_Static_assert(sizeof($_plan) == KILN_PLAN_BYTES && sizeof(kiln_plan) <= sizeof($_plan) && offsetof($_plan, variant) == offsetof(kiln_plan, variant) &&
                   offsetof($_plan, workspace_bytes) == offsetof(kiln_plan, workspace_bytes) &&
                   offsetof($_plan, launches_plainly) == offsetof(kiln_plan, launches_plainly), "plan");

)";

constexpr const char* kSetFunctions = R"(int $_abi_version(void) { return KILN_SET_ABI; }
int $_load(const $_opts* options) { return kiln_load(&this_set, (const kiln_options*)options); }
int $_unload(void) { return kiln_unload(&this_set); }
int $_threads(void) { return kiln_host_threads(); }
@SUPPORTS@int $_dump_calls(const char* path) { return kiln_dump_calls(&this_set, path); }
const char* $_last_error(void) { return kiln_host_error_text(); }

/* For the exporter's last check, and not in the header: one variant by its place, whatever dispatch would choose. */
$$_API int $_verify_plan(const char* entry, int variant, const DLTensor* const* tensors, $_plan* plan);
int $_verify_plan(const char* entry, int variant, const DLTensor* const* tensors, $_plan* plan) {
  const kiln_entry* found = kiln_find_entry(&this_set, entry);
  if (found == NULL) return kiln_host_fail(KILN_ERR_NO_VARIANT, "$: there is no entry %s", entry ? entry : "NULL");
  return kiln_make_plan_with(found, variant, tensors, (kiln_plan*)plan);
}
$$_API int $_verify_run(const $_plan* plan, void* const* values, void* workspace, size_t workspace_bytes, void* stream);
int $_verify_run(const $_plan* plan, void* const* values, void* workspace, size_t workspace_bytes, void* stream) {
  const kiln_cuda_call cuda = {.workspace = workspace, .workspace_bytes = workspace_bytes, .stream = stream};
  return kiln_run_plan(((const kiln_plan*)plan)->entry, (const kiln_plan*)plan, values, &cuda);
}

)";

constexpr const char* kHostSupports = R"(int $_supports(const char* entry, const int64_t* extents) {
  return kiln_supports(&this_set, entry, extents, (DLDevice){.device_type = kDLCPU, .device_id = 0});
}
)";

constexpr const char* kGpuFunctions = R"(int $_supports(const char* entry, const int64_t* extents, DLDevice device) { return kiln_supports(&this_set, entry, extents, device); }
int $_load_device(int device) { return kiln_cuda_load_device(&this_set, device); }
)";

std::string plan_function(const KernelSet& set, const Entry& entry) {
  std::string views;
  for (const PackageArgument& argument : entry.arguments) views += (views.empty() ? "" : ", ") + (argument.is_scalar ? "NULL" : spelled(argument.name));
  return fmt::format("{} {{\n  const DLTensor* const tensors[] = {{{}}};\n  return kiln_make_plan(&entries[{}_entry], tensors, (kiln_plan*)plan);\n}}\n\n",
                     plan_signature(set, entry), views, entry.c_name);
}

std::string run_function(const KernelSet& set, const Entry& entry) {
  std::string values;
  for (const PackageArgument& argument : entry.arguments) {
    const std::string name = spelled(argument.name);
    values += (values.empty() ? "" : ", ") + (argument.is_scalar ? "&" + name : argument.is_output ? name : "(void*)(uintptr_t)" + name);
  }
  const bool is_gpu = is_for_gpu(set);
  return fmt::format("{} {{\n  void* const values[] = {{{}}};\n{}  return kiln_run_plan(&entries[{}_entry], (const kiln_plan*)plan, values, {});\n}}\n\n",
                     run_signature(set, entry), values,
                     is_gpu ? "  const kiln_cuda_call cuda = {.workspace = workspace, .workspace_bytes = workspace_bytes, .stream = stream};\n" : "", entry.c_name,
                     is_gpu ? "&cuda" : "NULL");
}

std::string call_function(const KernelSet& set, const Entry& entry) {
  std::string views, values;
  for (const PackageArgument& argument : entry.arguments) {
    const std::string name = spelled(argument.name);
    if (!argument.is_scalar) views += name + ", ";
    values += ", " + (argument.is_scalar ? name : fmt::format("(char*){0}->data + {0}->byte_offset", name));
  }
  const std::string function = function_name(set, entry);
  if (is_for_gpu(set)) values += ", workspace, workspace_bytes, stream";
  return fmt::format("{} {{\n  {}_plan plan;\n  const int code = {}_plan({}&plan);\n  return code ? code : {}_run(&plan{});\n}}\n\n", call_signature(set, entry),
                     set.name, function, views, function, values);
}

}  // namespace

std::vector<KernelObject> distinct_objects(const KernelSet& set) {
  std::vector<KernelObject> objects;
  for (const Entry& entry : set.entries) {
    for (const Variant& variant : entry.variants) {
      if (object_index(objects, entry, variant) == objects.size()) objects.push_back({&entry, &variant});
    }
  }
  return objects;
}

std::size_t object_index(const std::vector<KernelObject>& objects, const Entry& entry, const Variant& variant) {
  const auto same = [&](const KernelObject& o) {
    if (o.variant->symbol != variant.symbol || o.variant->object != variant.object || o.variant->launches != variant.launches) return false;
    return !variant.launches || o.entry == &entry;
  };
  return static_cast<std::size_t>(std::find_if(objects.begin(), objects.end(), same) - objects.begin());
}

std::string emit_cubins(const KernelSet& set) {
  const std::vector<KernelObject> objects = distinct_objects(set);
  std::string text;
  for (std::size_t k = 0; k < objects.size(); ++k)
    if (objects[k].variant->launches) text += fmt::format("\t.balign 64\n\t.globl kernel_{0}_cubin\nkernel_{0}_cubin:\n\t.incbin \"kernel_{0}.cubin\"\n", k);
  if (text.empty()) return "";
  return fmt::format("/* The cubins of kernel set {}. */\n\t.section .rodata\n{}\t.section .note.GNU-stack,\"\",@progbits\n", set.name, text);
}

std::string emit_source(const KernelSet& set) {
  const std::vector<KernelObject> objects = distinct_objects(set);
  std::string text = fmt::format("/* Kernel set {0} {1}: what it holds, and its functions. Contracts are in {0}.h. */\n", set.name, set.version);
  text += fmt::format("#include \"{}.h\"\n\n#include \"generators/runtime/set.h\"\n#include \"generators/runtime/set_cpu.h\"\n\n", set.name);
  text += with_names(set, kLayoutChecks);
  for (std::size_t k = 0; k < objects.size(); ++k)
    if (!objects[k].variant->launches) text += fmt::format("int kernel_{}(void** arguments); /* {} */\n", k, objects[k].variant->symbol);
  for (const Entry& entry : set.entries) {
    text += fmt::format("\n/* --- {} */\n\n", describe(entry)) + arguments_table(entry) + symbols_table(entry);
    for (std::size_t k = 0; k < objects.size(); ++k)
      if (objects[k].entry == &entry && objects[k].variant->launches) text += program_tables(entry, *objects[k].variant, k);
    text += variants_table(entry, objects) + counters(entry);
  }
  text += "\n" + entries_table(set) + with_names(set, replaced(kSetFunctions, "@SUPPORTS@", is_for_gpu(set) ? kGpuFunctions : kHostSupports));
  for (const Entry& entry : set.entries) text += plan_function(set, entry) + run_function(set, entry) + call_function(set, entry);
  return text;
}

std::string emit_manifest_source(const KernelSet& set) {
  const std::string manifest = emit_manifest(set);
  std::string text = fmt::format("/* The manifest of kernel set {0}, as in share/{0}/manifest.json. */\n#include \"{0}.h\"\n\nstatic const char manifest[] =\n", set.name);
  for (std::size_t at = 0; at < manifest.size();) {
    const std::size_t end = manifest.find('\n', at) + 1;
    text += "    \"" + c_escaped(manifest.substr(at, end - at)) + "\"\n";
    at = end;
  }
  return text + fmt::format("    ;\n\nconst char* {}_manifest(size_t* bytes) {{\n  if (bytes != NULL) *bytes = sizeof manifest - 1;\n  return manifest;\n}}\n", set.name);
}

}  // namespace kiln::generators::package
