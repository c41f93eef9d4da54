#include "generators/cuda/program/recognise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "dsl/error.h"

namespace kiln::generators::cuda {
namespace {

using Environment = std::map<std::string, ExpressionPtr>;  // a loop, a reduction variable, or `let name`, by what stands for it in the kernel
using Axes = std::vector<int>;

ExpressionPtr make(Op op, DType type, std::string name, std::vector<ExpressionPtr> args = {}) {
  return std::make_shared<const Expression>(Expression{.op = op, .type = type, .name = std::move(name), .args = std::move(args)});
}

// Named so that they print unlike numbers.
std::string axis_name(int axis) { return "axis" + std::to_string(axis); }
ExpressionPtr axis_expression(int axis) { return make(Op::loop, kInt32, axis_name(axis)); }

// Beside the numbered axes, the terms of a dot product.
constexpr int kTerms = -1;
ExpressionPtr terms_expression() { return make(Op::loop, kInt32, "terms"); }

std::optional<int> as_axis(const Expression& e) {
  if (e.op != Op::loop) return std::nullopt;
  return e.name == "terms" ? kTerms : std::stoi(e.name.substr(4));
}

// `from`, from + 1, … below `end`.
Axes counted(int from, int end) {
  Axes axes(static_cast<std::size_t>(std::max(0, end - from)));
  std::iota(axes.begin(), axes.end(), from);
  return axes;
}

bool is_served(DType type) { return (type.is_float() && (type.bits == 16 || type == kFloat32)) || (!type.is_float() && type.bits >= 8 && type.bits <= 32); }

std::string key_of_let(const std::string& name) { return "let " + name; }

struct Places {
  const LoopNest& nest;
  const Algorithm& algorithm;
  const Problem& problem;

  // The stage of the nest that is the algorithm's, not a wrapper of it.
  int stage_of(const std::string& name) const {
    for (std::size_t s = 0; s < nest.stages().size(); ++s)
      if (nest.stages()[s].wraps < 0 && nest.stages()[s].facts->stage->name == name) return static_cast<int>(s);
    return -1;
  }

  const Argument* argument(const std::string& name) const {
    const auto found = std::find_if(algorithm.arguments.begin(), algorithm.arguments.end(), [&](const Argument& a) { return a.name == name; });
    return found == algorithm.arguments.end() ? nullptr : &*found;
  }

  // The argument that an output stage fills. Outputs with several components are refused before this is asked.
  const Argument& output_argument(const std::string& stage) const {
    std::size_t place = static_cast<std::size_t>(std::find(algorithm.outputs.begin(), algorithm.outputs.end(), stage) - algorithm.outputs.begin());
    for (const Argument& argument : algorithm.arguments) {
      if (!argument.is_output) continue;
      if (place == 0) return argument;
      --place;
    }
    KILN_CHECK(false, "an output without an argument: " + stage);
  }

  std::int64_t extent(const Axis& place) const { return extent_of(problem, algorithm, place.argument, place.dimension); }

  bool share_symbol(const Axis& a, const Axis& b) const {
    if (a == b) return true;
    return std::any_of(algorithm.symbols.begin(), algorithm.symbols.end(), [&](const auto& symbol) {
      const auto has = [&](const Axis& axis) { return std::find(symbol.second.begin(), symbol.second.end(), axis) != symbol.second.end(); };
      return has(a) && has(b);
    });
  }
};

// "x.extent.0" as a place.
std::optional<Axis> place_of_extent(const std::string& name) {
  const std::size_t at = name.find(".extent.");
  if (at == std::string::npos) return std::nullopt;
  return Axis{name.substr(0, at), std::stoi(name.substr(at + 8))};
}

class KernelReader {
 public:
  KernelReader(const Places& places, int leader, std::vector<int> joined, std::map<std::string, std::vector<KernelAxis>>& intermediates)
      : places_(places), leader_(leader), joined_(std::move(joined)), intermediates_(intermediates) {
    result_.name = stage(leader_).facts->stage->name;
  }

  Computation read() {
    read_axes();
    write(leader_, leader_environment());
    for (const int s : joined_) write(s, joined_environment(s));
    result_.operands.insert(result_.operands.end(), written_.begin(), written_.end());
    const int reads = static_cast<int>(result_.operands.size() - written_.size());
    for (Output& output : result_.outputs) output.operand += reads;
    return std::move(result_);
  }

 private:
  const StageLoops& stage(int s) const { return places_.nest.stage(s); }
  const Stage& definition_of(int s) const { return *stage(s).facts->stage; }
  int axis_count() const { return static_cast<int>(result_.axes.size()); }

  [[noreturn]] void refuse(const std::string& why) const { throw ScheduleError(fmt::format("{} cannot be made one kernel: {}", result_.name, why)); }

  // ---- axes: the stage's own loops, or of a reduction its domain and then its loops
  void read_axes() {
    const Stage& own = definition_of(leader_);
    if (!own.updates.empty()) result_.axes.push_back(reduced_axis(own));
    const std::vector<KernelAxis> dimensions = dimensions_of(leader_);
    result_.axes.insert(result_.axes.end(), dimensions.begin(), dimensions.end());
    if (result_.axes.empty()) refuse("it is a single number; a kernel needs at least a row of elements");
  }

  std::vector<KernelAxis> dimensions_of(int s) const {
    const Stage& own = definition_of(s);
    if (!stage(s).facts->is_output) {
      const auto known = intermediates_.find(own.name);
      KILN_CHECK(known != intermediates_.end(), "a stage that nothing reads: " + own.name);
      return known->second;
    }
    const Argument& argument = places_.output_argument(own.name);
    std::vector<KernelAxis> axes;
    for (int d = 0; d < static_cast<int>(own.loops.size()); ++d) {
      const Axis place{argument.name, d};
      axes.push_back({own.loops[static_cast<std::size_t>(d)], place, places_.extent(place)});
    }
    return axes;
  }

  KernelAxis reduced_axis(const Stage& own) const {
    const ReductionVariable& domain = only_domain(own);
    const Expression& extent = *domain.extent;
    if (const auto* constant = std::get_if<std::int64_t>(&extent.value); extent.op == Op::constant && constant != nullptr)
      return {domain.name, {}, *constant};
    const auto place = extent.op == Op::extent ? place_of_extent(extent.name) : std::nullopt;
    if (!place) refuse(fmt::format("'{}' runs over {}, which is no argument's extent", domain.name, print(extent)));
    return {domain.name, *place, places_.extent(*place)};
  }

  const ReductionVariable& only_domain(const Stage& own) const {
    if (own.updates.size() != 1) refuse(fmt::format("{} has {} updates; a sum over a row has one", own.name, own.updates.size()));
    const Update& update = own.updates.front();
    if (update.reduction.size() != 1)
      refuse(fmt::format("the update of {} runs over {} reduction loops; a sum over a row has one", own.name, update.reduction.size()));
    if (update.predicate) refuse(fmt::format("the update of {} leaves out terms by a condition; select 0 for them instead", own.name));
    const ReductionVariable& domain = update.reduction.front();
    const auto* from = std::get_if<std::int64_t>(&domain.min->value);
    if (domain.min->op != Op::constant || from == nullptr || *from != 0) refuse(fmt::format("'{}' does not start at 0", domain.name));
    return domain;
  }

  Environment leader_environment() const {
    const bool reduces = !definition_of(leader_).updates.empty();
    return environment_of(definition_of(leader_), counted(reduces ? 1 : 0, axis_count()));
  }

  // An output that shares the leader's loops: one value a row, or one an element.
  Environment joined_environment(int s) const {
    const int rank = static_cast<int>(definition_of(s).loops.size());
    if (rank != axis_count() && rank != axis_count() - 1)
      refuse(fmt::format("{} has {} dimensions; what shares the kernel has those of {} or its rows", definition_of(s).name, rank, result_.name));
    return environment_of(definition_of(s), counted(axis_count() - rank, axis_count()));
  }

  static Environment environment_of(const Stage& own, const Axes& axes) {
    Environment environment;
    for (std::size_t i = 0; i < own.loops.size(); ++i) environment[own.loops[i]] = axis_expression(axes[i]);
    return environment;
  }

  // ---- what the kernel stores
  void write(int s, const Environment& environment) {
    const Stage& own = definition_of(s);
    if (own.types.size() != 1) refuse(fmt::format("{} is a Tuple of {}; a kernel's stages have one component each", own.name, own.types.size()));
    if (!is_served(own.types.front())) refuse_type(own.name, own.types.front());
    const bool is_row = !own.updates.empty() || static_cast<int>(own.loops.size()) < axis_count();
    result_.outputs.push_back({static_cast<int>(written_.size()), add_value(own, is_row, environment, false)});
    const std::string buffer = stage(s).facts->is_output ? places_.output_argument(own.name).name : own.name;
    written_.push_back({buffer, buffer, own.types.front(), is_row ? Reach::row : Reach::every, true});
  }

  int add_value(const Stage& own, bool is_row, const Environment& environment, bool is_kept) {
    Value value{.name = own.name, .kind = is_row ? Value::Kind::row : Value::Kind::element, .type = own.types.front(), .expression = {}, .initial = {}, .is_kept = is_kept && !is_row};
    if (own.updates.empty()) {
      value.expression = rewrite(*own.values.front(), environment);
    } else if (is_row) {
      read_reduction(own, environment, value);
    } else {
      read_dot(own, environment, value);
    }
    if (value.kind == Value::Kind::row && reads_elements(*value.expression))
      refuse(fmt::format("{} is one value a row, but reads elements of it", own.name));
    result_.values.push_back(std::move(value));
    return static_cast<int>(result_.values.size()) - 1;
  }

  bool reads_elements(const Expression& root) const {
    bool reads = false;
    for_each_node(root, [&](const Expression& e) {
      if (e.op == Op::loop && e.name == axis_name(0)) reads = true;
      if (e.op != Op::load) return;
      if (const Value* value = result_.find_value(e.name)) {
        reads |= value->kind == Value::Kind::element;
      } else {
        reads |= result_.find_operand(e.name)->reach != Reach::row;
      }
    });
    return reads;
  }

  struct Combined {
    Op combine = Op::add;
    ExpressionPtr term;
  };

  // Of `r(m) = combine(r(m), term)`.
  Combined read_update(const Stage& own) const {
    const Update& update = own.updates.front();
    const auto is_own_place = [&](const std::vector<ExpressionPtr>& indices) {
      return std::equal(indices.begin(), indices.end(), own.loops.begin(), own.loops.end(),
                        [](const ExpressionPtr& index, const std::string& loop) { return index->op == Op::loop && index->name == loop; });
    };
    if (!is_own_place(update.indices)) refuse(fmt::format("the update of {} does not store at {}'s own loops", own.name, own.name));
    const ExpressionPtr value = without_lets(update.values.front());  // a square's factor is bound outside the sum
    const Expression& whole = *value;
    const auto is_self = [&](const Expression& e) { return e.op == Op::load && e.name == own.name && is_own_place(e.args); };
    const bool combines = whole.op == Op::add || whole.op == Op::mul || whole.op == Op::min || whole.op == Op::max;
    if (!combines || is_self(*whole.args[0]) == is_self(*whole.args[1]))
      refuse(fmt::format("the update of {} is no sum, product, least or largest of terms", own.name));
    const ExpressionPtr& term = whole.args[is_self(*whole.args[0]) ? 1 : 0];
    if (mentions(*term, own.name)) refuse(fmt::format("the terms of {} depend on its own value", own.name));
    return {whole.op, term};
  }

  // One value a row, over its elements.
  void read_reduction(const Stage& own, Environment environment, Value& value) {
    const ReductionVariable& domain = only_domain(own);
    const Combined update = read_update(own);
    const std::int64_t terms = std::holds_alternative<std::int64_t>(domain.extent->value) && domain.extent->op == Op::constant
                                   ? std::get<std::int64_t>(domain.extent->value)
                                   : reduced_axis(own).extent;
    if (terms != result_.columns())
      refuse(fmt::format("{} adds up {} terms of '{}', and the kernel's rows have {} elements", own.name, terms, domain.name, result_.columns()));
    value.initial = rewrite(*own.values.front(), environment);
    environment[domain.name] = axis_expression(0);
    value.kind = Value::Kind::reduction;
    value.combine = update.combine;
    value.expression = rewrite(*update.term, environment);
  }

  // One value an element, over terms that are no axis of the kernel.
  void read_dot(const Stage& own, Environment environment, Value& value) {
    const ReductionVariable& domain = only_domain(own);
    const Combined update = read_update(own);
    if (update.combine != Op::add || own.types.front() != kFloat32) refuse(fmt::format("{} is no sum of f32 over '{}'", own.name, domain.name));
    const KernelAxis terms = reduced_axis(own);
    if (result_.terms && !are_same(*result_.terms, terms))
      refuse(fmt::format("{} adds up '{}' and {} '{}', which are not known to be as long; the sums of a kernel's elements have the same terms", result_.dots().front()->name,
                         result_.terms->loop, own.name, terms.loop));
    if (!result_.terms) result_.terms = terms;
    value.initial = rewrite(*own.values.front(), environment);
    environment[domain.name] = terms_expression();
    value.kind = Value::Kind::dot;
    value.expression = rewrite(*update.term, environment);
  }

  // Whatever the call's extents are.
  bool are_same(const KernelAxis& a, const KernelAxis& b) const {
    if (a.source.argument.empty() || b.source.argument.empty()) return a.source == b.source && a.extent == b.extent;
    return places_.share_symbol(a.source, b.source);
  }

  static bool mentions(const Expression& root, const std::string& name) {
    bool found = false;
    for_each_node(root, [&](const Expression& e) { found |= e.op == Op::load && e.name == name; });
    return found;
  }

  // ---- expressions
  ExpressionPtr rewrite(const Expression& e, const Environment& environment) {
    switch (e.op) {
      case Op::loop:
      case Op::reduction: return environment.at(e.name);
      case Op::variable: return environment.at(key_of_let(e.name));
      case Op::let: {
        Environment inside = environment;
        inside[key_of_let(e.name)] = rewrite(*e.args[0], environment);
        return rewrite(*e.args[1], inside);
      }
      case Op::extent: return rewrite_extent(e);
      case Op::load: return rewrite_load(e, environment);
      case Op::parameter: add_scalar(e); break;
      default: break;
    }
    Expression result = e;
    for (ExpressionPtr& arg : result.args) arg = rewrite(*arg, environment);
    return std::make_shared<const Expression>(std::move(result));
  }

  // An extent that is an axis of the kernel becomes that axis's.
  ExpressionPtr rewrite_extent(const Expression& e) const {
    if (e.name.find(".min.") != std::string::npos) return std::make_shared<const Expression>(Expression{.type = e.type, .name = {}, .args = {}});
    if (const auto place = place_of_extent(e.name))
      for (int axis = 0; axis < axis_count(); ++axis)
        if (places_.share_symbol(*place, result_.axes[static_cast<std::size_t>(axis)].source)) return make(Op::extent, e.type, axis_name(axis));
    if (const auto place = place_of_extent(e.name); place && result_.terms && places_.share_symbol(*place, result_.terms->source)) return make(Op::extent, e.type, "terms");
    refuse(fmt::format("it asks for {}, which is the length of none of its loops", e.name));
  }

  void add_scalar(const Expression& e) {
    const Scalar scalar{e.name, e.type};
    if (std::find(result_.scalars.begin(), result_.scalars.end(), scalar) == result_.scalars.end()) result_.scalars.push_back(scalar);
  }

  ExpressionPtr rewrite_load(const Expression& e, const Environment& environment) {
    std::vector<ExpressionPtr> indices;
    for (const ExpressionPtr& arg : e.args) indices.push_back(rewrite(*arg, environment));
    if (places_.argument(e.name) != nullptr && !places_.argument(e.name)->is_output) return read_operand(e, indices);
    const int s = places_.stage_of(e.name);
    if (s < 0) refuse(fmt::format("{} is a table that the generator holds, which a kernel has no place for; make it an input", e.name));
    const StageLoops& producer = stage(s);
    if (e.component != 0 || producer.facts->stage->types.size() != 1) refuse(fmt::format("{} is a Tuple; a kernel's stages have one component each", e.name));
    if (producer.is_inlined()) return inlined(*producer.facts->stage, indices);
    if (producer.is_output() || producer.compute.kind == Level::Kind::root) return read_intermediate(s, e, indices);
    if (producer.compute.kind == Level::Kind::inlined)
      refuse(fmt::format("{} would be summed anew for each element that reads it; give it compute_at({}, {}) or compute_root()", e.name, result_.name,
                         static_cast<int>(indices.size()) == axis_count() ? sum_loop() : row_loop()));
    return local_value(s, indices);
  }

  ExpressionPtr inlined(const Stage& own, const std::vector<ExpressionPtr>& indices) {
    Environment environment;
    for (std::size_t i = 0; i < own.loops.size(); ++i) environment[own.loops[i]] = indices[i];
    return rewrite(*own.values.front(), environment);
  }

  // The innermost loop over blocks, or the columns where the leader has none.
  std::string sum_loop() const {
    const Definition& definition = stage(leader_).definitions.front();
    for (const int id : definition.order)
      if (definition.loop(id).kind == LoopKind::gpu_block) return definition.loop(id).name;
    return result_.axes.front().loop;
  }

  std::string row_loop() const { return axis_count() > 1 ? result_.axes[1].loop : result_.axes[0].loop; }

  Axes axes_of(const std::string& name, const std::vector<ExpressionPtr>& indices) const {
    Axes axes;
    for (const ExpressionPtr& index : indices) {
      const auto axis = as_axis(*index);
      if (!axis) refuse(fmt::format("it reads {} at {}; a kernel's operands are read at its own column and row", name, print(*index)));
      axes.push_back(*axis);
    }
    return axes;
  }

  // ---- values that are computed once a row, or kept for each element
  ExpressionPtr local_value(int s, const std::vector<ExpressionPtr>& indices) {
    const Stage& own = definition_of(s);
    const Level& place = stage(s).compute;
    const Axes axes = axes_of(own.name, indices);
    const bool is_row = axes == counted(1, axis_count());
    if (!is_row && axes != counted(0, axis_count()))
      refuse(fmt::format("it reads {} at other places than its own column and row, or its row", own.name));
    // A sum of its own for each element exists where the element is computed, or with all of its block; everything else once a row.
    const std::string loop = !is_row && !own.updates.empty() ? sum_loop() : row_loop();
    if (place.stage != leader_ || place.loop != loop)
      refuse(fmt::format("{} is computed at ({}, {}); in this kernel it can be computed at ({}, {})", own.name, stage(place.stage).name, place.loop, result_.name, loop));
    if (!result_.find_value(own.name)) add_value(own, is_row, environment_of(own, axes), true);
    return make(Op::load, own.types.front(), own.name);
  }

  // ---- operands
  const KernelAxis& axis_at(int axis) const { return axis == kTerms ? *result_.terms : result_.axes[static_cast<std::size_t>(axis)]; }

  ExpressionPtr read_operand(const Expression& e, const std::vector<ExpressionPtr>& indices) {
    const Axes axes = axes_of(e.name, indices);
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const KernelAxis& axis = axis_at(axes[d]);
      const std::int64_t extent = places_.extent({e.name, static_cast<int>(d)});
      if (extent != axis.extent)
        refuse(fmt::format("dimension {} of {} has {} elements, and '{}', which reads it, runs over {}; rows are read whole", d, e.name, extent, axis.loop,
                           axis.extent));
    }
    return operand(e.name, e.type, axes);
  }

  ExpressionPtr read_intermediate(int s, const Expression& e, const std::vector<ExpressionPtr>& indices) {
    const Stage& own = definition_of(s);
    if (s == leader_ || std::find(joined_.begin(), joined_.end(), s) != joined_.end())
      refuse(fmt::format("{} is stored by the kernel that reads it; read what it is made of instead", own.name));
    const Axes axes = axes_of(own.name, indices);
    std::vector<KernelAxis> dimensions;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      dimensions.push_back(axis_at(axes[d]));
      dimensions.back().loop = own.loops[d];
    }
    const auto [known, is_new] = intermediates_.emplace(own.name, dimensions);
    for (std::size_t d = 0; d < axes.size() && !is_new; ++d)
      if (known->second[d].extent != dimensions[d].extent)
        refuse(fmt::format("dimension {} of {} is read over {} elements here and over {} elsewhere", d, own.name, dimensions[d].extent, known->second[d].extent));
    const std::string buffer = stage(s).facts->is_output ? places_.output_argument(own.name).name : own.name;
    const ExpressionPtr load = operand(buffer, e.type, axes);
    std::find_if(result_.operands.begin(), result_.operands.end(), [&](const Operand& one) { return one.name == load->name; })->is_of_earlier = true;
    return load;
  }

  ExpressionPtr operand(const std::string& buffer, DType type, const Axes& axes) {
    if (!is_served(type)) refuse_type(buffer, type);
    const int count = axis_count();
    Reach reach = Reach::every;
    if (axes == counted(0, count)) {
      reach = Reach::every;
    } else if (count == 2 && axes == Axes{1, 0}) {
      reach = Reach::turned;
    } else if (axes == Axes{0}) {
      reach = Reach::column;
    } else if (axes == counted(1, count)) {
      reach = Reach::row;
    } else if (count == 2 && axes == Axes{kTerms, 1}) {
      reach = Reach::row_terms;
    } else if (count == 2 && axes == Axes{kTerms, 0}) {
      reach = Reach::column_terms;
    } else if (count == 2 && axes == Axes{0, kTerms}) {
      reach = Reach::terms_of_columns;
    } else {
      refuse(fmt::format("it reads {} by some of its loops in an order that no kernel has; whole elements, a column, a row or a turned matrix can be read", buffer));
    }
    for (const Operand& known : result_.operands)
      if (known.buffer == buffer && known.reach == reach) return make(Op::load, type, known.name);
    const bool is_taken = result_.find_operand(buffer) != nullptr;
    const std::string name = is_taken ? fmt::format("{}_by_{}", buffer, print(reach)) : buffer;
    result_.operands.push_back({name, buffer, type, reach, false});
    return make(Op::load, type, name);
  }

  [[noreturn]] void refuse_type(const std::string& name, DType type) const {
    refuse(fmt::format("{} is of {}; kernels move f32, bf16, f16 and integers of 8, 16 and 32 bits", name, print(type)));
  }

  const Places& places_;
  int leader_;
  std::vector<int> joined_;
  std::map<std::string, std::vector<KernelAxis>>& intermediates_;
  Computation result_;
  std::vector<Operand> written_;
};

}  // namespace

std::int64_t Intermediate::bytes() const {
  std::int64_t elements = 1;
  for (const KernelAxis& dimension : dimensions) elements *= dimension.extent;
  return elements * type.bytes();
}

Recognised recognise(const LoopNest& nest, const Algorithm& algorithm, const Problem& problem) {
  const Places places{nest, algorithm, problem};
  std::vector<int> leaders;
  std::map<int, std::vector<int>> joined;
  for (std::size_t s = 0; s < nest.stages().size(); ++s) {
    const StageLoops& stage = nest.stages()[s];
    if (!stage.facts->is_output && stage.compute.kind != Level::Kind::root) continue;
    if (stage.wraps >= 0) throw ScheduleError(fmt::format("{} is a copy at root, which the CUDA back end has no kernel for; read {} itself", stage.name, nest.stage(stage.wraps).name));
    const Companion& companion = stage.definitions.front().companion;
    if (companion.stage >= 0) {
      joined[companion.stage].push_back(static_cast<int>(s));
    } else {
      leaders.push_back(static_cast<int>(s));
    }
  }
  // Consumers first: what a kernel reads says how large the producer is.
  Recognised result;
  std::map<std::string, std::vector<KernelAxis>> intermediates;
  std::reverse(leaders.begin(), leaders.end());
  for (const int leader : leaders) {
    const Stage& own = *nest.stage(leader).facts->stage;
    if (!nest.stage(leader).facts->is_output && !intermediates.contains(own.name)) continue;  // inlined away: nothing reads it
    result.kernels.push_back(KernelReader(places, leader, joined[leader], intermediates).read());
    result.leaders.push_back(leader);
    if (!nest.stage(leader).facts->is_output) result.intermediates.push_back({own.name, own.types.front(), intermediates.at(own.name)});
  }
  std::reverse(result.kernels.begin(), result.kernels.end());
  std::reverse(result.leaders.begin(), result.leaders.end());
  std::reverse(result.intermediates.begin(), result.intermediates.end());
  return result;
}

}  // namespace kiln::generators::cuda
