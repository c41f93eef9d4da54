#include "generators/cuda/emit/ring/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dsl/error.h"
#include "generators/cuda/emit/conversions.h"
#include "generators/cuda/emit/storage.h"

namespace kiln::generators::cuda {
namespace {

// The store rounds to 16 bits, and to codes, itself.
ExpressionPtr before_rounding(const ExpressionPtr& expression, DType stored) {
  if (const ExpressionPtr value = before_e4m3(*expression)) return value;
  const bool rounds = expression->op == Op::cast && expression->type == stored && stored.is_float() && stored.bits == 16 && expression->args[0]->type == kFloat32;
  return rounds ? expression->args[0] : expression;
}

}  // namespace

RingKernel::RingKernel(const RingPlan& plan, const std::string& name) : plan_(plan), map_(plan.map()), name_(name), functions_(identifiers_, true) {
  identifiers_.make(name_);
  declare_maps();
  declare_operands();
  write_function();
  declare_lengths();
}

void RingKernel::declare_maps() {
  for (const TensorMapPlan& map : plan_.maps()) {
    maps_.push_back(identifiers_.make("map_" + computation().operands[static_cast<std::size_t>(map.operand)].name));
    declarations_.push_back("const __grid_constant__ TensorMap " + maps_.back());
  }
}

// In tiles, through the ring.
bool RingKernel::is_copied(int operand) const {
  const auto has = [&](const RingSide& side) { return std::find(side.operands.begin(), side.operands.end(), operand) != side.operands.end(); };
  return has(plan_.p) || has(plan_.q);
}

// What the value of an element reads beside the products: by address.
void RingKernel::declare_operands() {
  for (std::size_t i = 0; i < computation().operands.size(); ++i) {
    const Operand& one = computation().operands[i];
    const int place = static_cast<int>(i);
    if (is_copied(place) || one.is_written) continue;
    pointers_[one.name] = identifiers_.make(one.name);
    parameter(KernelParameter::Kind::operand, place, fmt::format("const {}* __restrict__ {}", storage_of(one.type).pointed, pointers_[one.name]));
  }
  for (std::size_t i = 0; i < computation().scalars.size(); ++i) {
    const Scalar& one = computation().scalars[i];
    scalars_[one.name] = identifiers_.make(one.name);
    parameter(KernelParameter::Kind::scalar, static_cast<int>(i), fmt::format("{} {}", value_type(one.type), scalars_[one.name]));
  }
}

void RingKernel::declare_lengths() {
  parameter(KernelParameter::Kind::columns, 0, "int columns");
  parameter(KernelParameter::Kind::terms, 0, "int terms");
  parameter(KernelParameter::Kind::rows, 0, "int rows");
  for (const char* launch : {"int group", "u64 hint_p", "u64 hint_q"}) declarations_.push_back(launch);
}

void RingKernel::write_function() {
  const Value& value = computation().values[static_cast<std::size_t>(computation().outputs.front().value)];
  if (value.kind == Value::Kind::dot) return;  // the sum itself is stored
  const ExpressionPtr before = before_rounding(value.expression, stored().type);
  value_ = functions_.add(value.name + "_value", fmt::format("Each {}{}", value.name, before == value.expression ? "" : ", before it is rounded"), before, value.is_exact ? Math::exact : Math::approximate);
}

void RingKernel::parameter(KernelParameter::Kind kind, int place, const std::string& declaration) {
  parameters_.push_back({kind, place});
  declarations_.push_back(declaration);
}

std::string RingKernel::constants() const {
  std::string text = "// P are the rows that wgmma takes 64 at a time, Q those of its other operand. In shared memory: the stages of P, those of Q, store buffers, barriers.\n";
  if (plan_.products() > 1) {
    const bool is_p = plan_.p.operands.size() > 1;
    const RingSide& side = is_p ? plan_.p : plan_.q;
    text += fmt::format("// {0} has TILE_{0} rows of {1}, then the same of {2}: a thread has the sums of both for the elements that it stores.\n", is_p ? "P" : "Q", plan_.operand(side, 0).name,
                        plan_.operand(side, 1).name);
  }
  text += fmt::format("constexpr int TILE_P = {}, TILE_Q = {}, DEPTH = {}, STAGES = {};\n", plan_.p.tile, plan_.q.tile, plan_.depth, plan_.stages);
  text += fmt::format("constexpr int P_BYTES = {}, Q_BYTES = {}, BUFFER_BYTES = {};\n", map_.p_bytes, map_.q_bytes, map_.buffer_bytes);
  return text + fmt::format("constexpr int AT_Q = {}, AT_STORE = {}, AT_FULL = {}, AT_EMPTY = {};\n", map_.at_q, map_.at_store, map_.at_full, map_.at_empty);
}

// Along which side groups lie is the text's; how long they are, the launch's.
std::string RingKernel::place_function() const {
  const bool is_q = plan_.raster_along_q;
  return fmt::format("// Where tile i begins: groups of `group` tiles along {0}, within each of them {1} one step after the other.\n"
                     "struct Place {{ int p, q; }};\n"
                     "DEV Place place_of(int i, int tiles_p, int tiles_q, int group) {{\n"
                     "  const int most = min(group, tiles_{0}), first = i / (most * tiles_{1}) * most, size = min(most, tiles_{0} - first), rest = i % (most * tiles_{1});\n"
                     "  const int {0} = first + rest % size, {1} = rest / size;\n"
                     "  return {{p * TILE_P, q * TILE_Q}};\n"
                     "}}\n",
                     is_q ? "q" : "p", is_q ? "p" : "q");
}

void RingKernel::prologue() {
  lines_.add("extern __shared__ __align__(1024) char smem_raw[];");
  lines_.add("const u32 smem = smem_u32(smem_raw);");
  lines_.add("const int warpgroup = threadIdx.x / 128, t = threadIdx.x % 128;");
  lines_.add(fmt::format("const int tiles_p = ({0} + TILE_P - 1) / TILE_P, tiles_q = ({1} + TILE_Q - 1) / TILE_Q, steps = (terms + DEPTH - 1) / DEPTH;",
                         plan_.is_swapped ? "columns" : "rows", plan_.is_swapped ? "rows" : "columns"));
  lines_.add("auto full = [&](int s) { return smem + AT_FULL + s * 8; };");
  lines_.add("auto empty = [&](int s) { return smem + AT_EMPTY + s * 8; };");
  lines_.open("if (threadIdx.x == 0)");
  for (const std::string& map : maps_) lines_.add(fmt::format("tma_prefetch_map(&{});", map));
  lines_.open("for (int s = 0; s < STAGES; ++s)");
  lines_.add("mbar_init(full(s), 1);");
  lines_.add(fmt::format("mbar_init(empty(s), {});", plan_.consumers_of_a_tile()));
  lines_.close();
  lines_.add("fence_mbar_init();");
  lines_.close();
  lines_.add("__syncthreads();");
  lines_.add("pdl_launch_dependents();");
  lines_.add("pdl_wait();");
  if (is_split()) {
    lines_.add(fmt::format("// The blocks of a cluster share the terms of one tile.", plan_.parts));
    lines_.add(fmt::format("const int rank = (int)cluster_rank(), from = steps * rank / {0}, to = steps * (rank + 1) / {0};", plan_.parts));
    lines_.add(fmt::format("const Place at = place_of(blockIdx.x / {}, tiles_p, tiles_q, group);", plan_.parts));
  }
  lines_.add("");
}

std::string RingKernel::signature() const {
  std::string list;
  for (const std::string& declaration : declarations_) list += (list.empty() ? "" : ", ") + declaration;
  // setmaxnreg presupposes that threads begin with all registers there are; only with a number of blocks does the compiler give them (C7508).
  const int blocks = has_roles() ? 1 : plan_.blocks_per_sm;
  const std::string bounds = blocks > 0 ? fmt::format("{}, {}", plan_.threads(), blocks) : fmt::format("{}", plan_.threads());
  const std::string cluster = is_split() ? fmt::format(" __cluster_dims__({}, 1, 1)", plan_.parts) : "";
  return fmt::format("\nextern \"C\" __global__ void __launch_bounds__({}){}\n{}({})", bounds, cluster, name_, list);
}

KernelText RingKernel::emit() {
  prologue();
  copy();
  multiply();
  std::string text = fmt::format("// {}: {}\n", name_, print_kernel(plan_)) + functions_.text() + constants() + place_function();
  text += signature() + " {\n" + lines_.text() + "}\n";
  return {name_, std::move(text), parameters_};
}

KernelText emit_ring(const RingPlan& plan, const std::string& name) { return RingKernel(plan, name).emit(); }

// They stand after types.cuh, which alone they need.
std::string with_ring_prelude(const std::string& unit, const std::vector<const RingPlan*>& rings) {
  if (rings.empty()) return unit;
  const std::string types = "#include \"types.cuh\"\n";
  KILN_CHECK(unit.starts_with(types), "a translation unit that does not begin with the prelude's types");
  std::set<std::string> wgmma;
  for (const RingPlan* ring : rings) wgmma.insert(ring->is_of_codes() ? "wgmma_e4m3" : "wgmma_" + print(ring->element()));
  std::string includes = types + "#include \"copies.cuh\"\n#include \"mma.cuh\"\n";
  for (const std::string& file : wgmma) includes += "#include \"" + file + ".cuh\"\n";
  return includes + unit.substr(types.size());
}

}  // namespace kiln::generators::cuda
