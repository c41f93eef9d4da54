#include "dsl/read_algorithm_expression.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "dsl/digest.h"
#include "dsl/error.h"

namespace kiln {
namespace {

using namespace Halide::Internal;

// Shape and contents of a buffer that the generator holds, as an identity.
std::string digest_of(const Halide::Buffer<>& buffer) {
  const Halide::Buffer<> dense = buffer.copy();
  std::string text = fmt::format("{}", dense.type().bits());
  for (int d = 0; d < dense.dimensions(); ++d) text += fmt::format(" {} {}", dense.dim(d).min(), dense.dim(d).extent());
  text += '\n';
  text.append(static_cast<const char*>(dense.data()), dense.size_in_bytes());
  return content_digest(text).short_hex();
}

// Functions carry their type in their name: exp_f32.
std::string without_type(const std::string& name) {
  for (const char* suffix : {"_f16", "_f32", "_f64"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - 4);
  return name;
}

const std::map<std::string, std::string> kNoReductions;

class ExpressionReader {
 public:
  ExpressionReader(const Names& names, const StageNames& stage, const std::map<std::string, std::string>& reductions)
      : names_(names), stage_(stage), reductions_(reductions) {}

  ExpressionPtr read(const Halide::Expr& e) {
    Expression result;
    result.type = e.as<StringImm>() != nullptr ? DType{TypeClass::unsigned_int, 64} : dtype_of(e.type(), "stage `" + stage_.stage + "`");
    switch (e.node_type()) {
      case IRNodeType::IntImm: result.value = e.as<IntImm>()->value; break;
      case IRNodeType::UIntImm: result.value = e.as<UIntImm>()->value; break;
      case IRNodeType::FloatImm: result.value = e.as<FloatImm>()->value; break;
      case IRNodeType::StringImm: result.value = e.as<StringImm>()->value; break;
      case IRNodeType::Variable: variable(*e.as<Variable>(), result); break;
      case IRNodeType::Call: call(*e.as<Call>(), result); break;
      case IRNodeType::Let: let(*e.as<Let>(), result); break;
      case IRNodeType::Cast: unary(Op::cast, e.as<Cast>()->value, result); break;
      case IRNodeType::Reinterpret: unary(Op::reinterpret, e.as<Reinterpret>()->value, result); break;
      case IRNodeType::Not: unary(Op::logical_not, e.as<Not>()->a, result); break;
      case IRNodeType::Add: binary(Op::add, *e.as<Add>(), result); break;
      case IRNodeType::Sub: binary(Op::sub, *e.as<Sub>(), result); break;
      case IRNodeType::Mul: binary(Op::mul, *e.as<Mul>(), result); break;
      case IRNodeType::Div: binary(Op::div, *e.as<Div>(), result); break;
      case IRNodeType::Mod: binary(Op::mod, *e.as<Mod>(), result); break;
      case IRNodeType::Min: binary(Op::min, *e.as<Min>(), result); break;
      case IRNodeType::Max: binary(Op::max, *e.as<Max>(), result); break;
      case IRNodeType::EQ: binary(Op::eq, *e.as<EQ>(), result); break;
      case IRNodeType::NE: binary(Op::ne, *e.as<NE>(), result); break;
      case IRNodeType::LT: binary(Op::lt, *e.as<LT>(), result); break;
      case IRNodeType::LE: binary(Op::le, *e.as<LE>(), result); break;
      case IRNodeType::GT: binary(Op::gt, *e.as<GT>(), result); break;
      case IRNodeType::GE: binary(Op::ge, *e.as<GE>(), result); break;
      case IRNodeType::And: binary(Op::logical_and, *e.as<And>(), result); break;
      case IRNodeType::Or: binary(Op::logical_or, *e.as<Or>(), result); break;
      case IRNodeType::Select: select(*e.as<Select>(), result); break;
      default: fail("holds an expression that only Halide's own passes make");
    }
    return std::make_shared<const Expression>(std::move(result));
  }

  std::vector<ExpressionPtr> read(const std::vector<Halide::Expr>& list) {
    std::vector<ExpressionPtr> result;
    for (const Halide::Expr& e : list) result.push_back(read(e));
    return result;
  }

 private:
  void unary(Op op, const Halide::Expr& value, Expression& result) {
    result.op = op;
    result.args = {read(value)};
  }

  template <typename Node>
  void binary(Op op, const Node& node, Expression& result) {
    result.op = op;
    result.args = {read(node.a), read(node.b)};
  }

  void select(const Select& op, Expression& result) {
    result.op = Op::select;
    result.args = {read(op.condition), read(op.true_value), read(op.false_value)};
  }

  // Halide numbers let-bound names across the process; ours count from 0 in each definition.
  void let(const Let& op, Expression& result) {
    result.op = Op::let;
    ExpressionPtr value = read(op.value);
    result.name = lets_.try_emplace(op.name, fmt::format("t{}", lets_.size())).first->second;
    result.args = {std::move(value), read(op.body)};
  }

  void variable(const Variable& op, Expression& result) {
    result.name = op.name;
    // By name: inside an RDom's own predicate Halide leaves the domain out.
    if (const auto reduction = reductions_.find(op.name); reduction != reductions_.end()) {
      result.op = Op::reduction;
      result.name = reduction->second;
    } else if (op.param.defined()) {
      result.op = op.param.is_buffer() ? Op::extent : Op::parameter;
    } else if (op.image.defined()) {
      result.op = Op::extent;
      result.name = fmt::format("{}@{}{}", op.image.name().substr(0, op.image.name().find('$')), digest_of(op.image),
                                op.name.substr(op.image.name().size()));
    } else if (const auto found = stage_.loops.find(op.name); found != stage_.loops.end()) {
      result.op = Op::loop;
      result.name = found->second;
    } else if (const auto bound = lets_.find(op.name); bound != lets_.end()) {
      result.op = Op::variable;
      result.name = bound->second;
    } else {
      fail(fmt::format("uses `{}`, which nothing binds", op.name));
    }
  }

  void call(const Call& op, Expression& result) {
    result.args = read(op.args);
    result.op = Op::load;
    if (op.call_type == Call::Halide) {
      result.name = names_.at(op.name).stage;
      result.component = op.value_index;
    } else if (op.call_type == Call::Image && op.param.defined()) {
      result.name = op.param.name();
    } else if (op.call_type == Call::Image) {
      result.name = fmt::format("{}@{}", op.name.substr(0, op.name.find('$')), digest_of(op.image));
    } else {
      result.op = Op::call;
      result.name = without_type(op.name);
    }
  }

  [[noreturn]] void fail(const std::string& what) const { throw AlgorithmError(fmt::format("stage `{}` {}", stage_.stage, what)); }

  const Names& names_;
  const StageNames& stage_;
  const std::map<std::string, std::string>& reductions_;
  std::map<std::string, std::string> lets_;
};

Update read_update(const Definition& definition, const Names& names, const StageNames& stage, std::size_t index) {
  const std::map<std::string, std::string>& reductions = stage.reductions.at(index);
  Update update;
  const auto reader = [&] { return ExpressionReader(names, stage, reductions); };
  update.indices = reader().read(definition.args());
  for (const Halide::Expr& value : definition.values()) update.values.push_back(reader().read(value));
  for (const auto& r : definition.schedule().rvars())
    update.reduction.push_back({reductions.at(r.var), reader().read(r.min), reader().read(r.extent)});
  if (!is_const_one(definition.predicate())) update.predicate = reader().read(definition.predicate());
  return update;
}

void require_keepable(const Function& function, const std::string& stage) {
  const auto refuse = [&](const char* what, const char* instead) {
    throw AlgorithmError(fmt::format("stage `{}` uses {}, which cannot be kept as an algorithm; {}", stage, what, instead));
  };
  if (function.has_extern_definition()) refuse("define_extern", "write it in Halide");
  if (function.schedule().memoized()) refuse("memoize", "remove it from the generator");
  if (function.schedule().async()) refuse("async", "remove it from the generator");
  if (!function.has_pure_definition()) refuse("no definition", "define it before it is called");
}

}  // namespace

DType dtype_of(const Halide::Type& type, const std::string& place) {
  if (type.lanes() != 1 || type.is_handle()) throw AlgorithmError(fmt::format("{} holds a {}, which has no element type", place, type.is_handle() ? "pointer" : "vector"));
  const TypeClass kind = type.is_bfloat() ? TypeClass::brain_float
                         : type.is_float() ? TypeClass::ieee_float
                         : type.is_int()   ? TypeClass::signed_int
                                           : TypeClass::unsigned_int;
  return {kind, type.bits()};
}

std::vector<Stage> read_stages(const std::vector<Function>& functions, const Names& names) {
  std::vector<Stage> stages;
  for (const Function& function : functions) {
    const StageNames& own = names.at(function.name());
    require_keepable(function, own.stage);
    Stage stage;
    stage.name = own.stage;
    for (const std::string& loop : function.args()) stage.loops.push_back(own.loops.at(loop));
    for (const Halide::Type& type : function.output_types()) stage.types.push_back(dtype_of(type, "stage `" + own.stage + "`"));
    for (const Halide::Expr& value : function.values()) stage.values.push_back(ExpressionReader(names, own, kNoReductions).read(value));
    for (std::size_t i = 0; i < function.updates().size(); ++i) stage.updates.push_back(read_update(function.updates()[i], names, own, i));
    stages.push_back(std::move(stage));
  }
  return stages;
}

std::vector<ExpressionPtr> read_requirements(const Halide::Pipeline& pipeline) {
  const StageNames nowhere{"the pipeline's requirements", {}, {}};
  const Names none;
  std::vector<ExpressionPtr> result;
  for (const Stmt& statement : pipeline.requirements())
    if (const auto* check = statement.as<AssertStmt>()) result.push_back(ExpressionReader(none, nowhere, kNoReductions).read(check->condition));
  return result;
}

}  // namespace kiln
