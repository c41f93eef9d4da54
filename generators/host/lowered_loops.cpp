// One walk over the statement: scopes of lets, loops and allocations become nodes, loads and stores become accesses, float arithmetic is counted.
#include "generators/host/lowered_loops.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace kiln::generators::host {
namespace {

namespace ir = Halide::Internal;

// Halide puts an allocation on the stack up to this size (CodeGen_Internal's can_allocation_fit_on_stack).
constexpr std::int64_t kStackAllocationBytes = 16 * 1024;

// "c.s1.n.no" -> "c.update(0).no"; a loop that was split into prologue and rest ends in ".rebased".
std::string loop_name(const std::string& halide_name, const std::map<std::string, std::string>& stage_names) {
  std::size_t at = halide_name.find(".s");
  while (at != std::string::npos && (at + 2 >= halide_name.size() || std::isdigit(static_cast<unsigned char>(halide_name[at + 2])) == 0))
    at = halide_name.find(".s", at + 1);
  if (at == std::string::npos) return halide_name;
  std::string stage = halide_name.substr(0, at);
  if (const auto known = stage_names.find(stage); known != stage_names.end()) stage = known->second;
  const std::size_t loop_at = halide_name.find('.', at + 2);
  if (loop_at == std::string::npos) return halide_name;
  const int definition = std::stoi(halide_name.substr(at + 2, loop_at - at - 2));
  std::string loop = halide_name.substr(loop_at + 1);
  constexpr std::string_view kRebased = ".rebased";
  if (loop.ends_with(kRebased)) loop.resize(loop.size() - kRebased.size());
  loop = loop.substr(loop.find_last_of('.') == std::string::npos ? 0 : loop.find_last_of('.') + 1);
  // A reduction variable of several is r$x here and r.x in a schedule; the second domain of a name is r$2$x and r#2.x.
  for (std::size_t i = 0; i + 1 < loop.size(); ++i)
    if (loop[i] == '$') loop[i] = std::isdigit(static_cast<unsigned char>(loop[i + 1])) != 0 ? '#' : '.';
  return stage + (definition > 0 ? ".update(" + std::to_string(definition - 1) + ")." : ".") + loop;
}

class LoopReader : public ir::IRVisitor {
 public:
  explicit LoopReader(const StatementFacts& facts) : facts_(facts), index_(facts.buffers, facts.scalars) {
    for (const auto& [name, buffer] : facts.arguments) buffer_id(name, buffer);
  }

  LoopTree read(const ir::Stmt& statement) {
    statement.accept(this);
    return std::move(tree_);
  }

 private:
  using ir::IRVisitor::visit;

  int buffer_id(const std::string& name, const Buffer& otherwise) {
    const auto [place, is_new] = buffer_ids_.try_emplace(name, static_cast<int>(tree_.buffers.size()));
    if (is_new) tree_.buffers.push_back(otherwise);
    return place->second;
  }

  LoopNode& here() { return *path_.back(); }

  // The node is finished before it enters its parent, whose vector may move.
  void inside(LoopNode node, const ir::Stmt& body) {
    path_.push_back(&node);
    body.accept(this);
    path_.pop_back();
    here().children.push_back(std::move(node));
  }

  void visit(const ir::For* op) override {
    const auto min = index_.read(op->min);
    const auto extent = index_.value(op->extent);
    LoopNode node{.kind = op->is_parallel() ? LoopNode::Kind::parallel_loop : LoopNode::Kind::loop, .id = ++last_loop_};
    node.name = loop_name(op->name, facts_.stage_names);
    if (extent) node.trips = std::max<std::int64_t>(*extent, 0);
    std::optional<Place> variable;
    if (min && node.trips) {
      variable = *min;
      variable->base += *node.trips / 2;
      variable->spans.push_back({node.id, 1, *node.trips});
    }
    index_.bind(op->name, variable);
    if (node.trips != 0) inside(std::move(node), op->body);
    index_.unbind(op->name);
  }

  void visit(const ir::LetStmt* op) override {
    op->value.accept(this);
    index_.bind(op->name, op->value.type().is_int_or_uint() ? index_.read(op->value) : std::nullopt);
    op->body.accept(this);
    index_.unbind(op->name);
  }

  void visit(const ir::Let* op) override {
    op->value.accept(this);
    index_.bind(op->name, op->value.type().is_int_or_uint() ? index_.read(op->value) : std::nullopt);
    op->body.accept(this);
    index_.unbind(op->name);
  }

  void visit(const ir::IfThenElse* op) override {
    const auto holds = index_.value(op->condition);
    if (!holds) {
      op->condition.accept(this);
      tree_.flops_known = false;
    }
    if (!holds || *holds != 0) op->then_case.accept(this);
    if ((!holds || *holds == 0) && op->else_case.defined()) op->else_case.accept(this);
  }

  void visit(const ir::AssertStmt*) override {}  // checks of the arguments: once a call

  void visit(const ir::Allocate* op) override {
    Buffer buffer{.name = op->name, .element_bytes = op->type.bytes() * op->type.lanes()};
    std::int64_t elements = 1;
    bool known = true;
    for (const Halide::Expr& extent : op->extents) {
      const auto value = index_.value(extent);
      known = known && value.has_value();
      elements *= value ? std::max<std::int64_t>(*value, 0) : 1;
    }
    if (known) buffer.bytes = (elements + op->padding) * buffer.element_bytes;
    buffer.element_bytes = op->type.bytes();
    LoopNode node{.kind = LoopNode::Kind::allocation};
    node.buffer = static_cast<int>(tree_.buffers.size());
    buffer_ids_[op->name] = node.buffer;  // the same name in two places is two allocations
    tree_.buffers.push_back(buffer);
    const std::int64_t constant = std::int64_t{op->constant_allocation_size()} * op->type.bytes();
    const bool fits = constant > 0 && constant <= kStackAllocationBytes;
    node.on_heap = op->memory_type == Halide::MemoryType::Heap || (op->memory_type == Halide::MemoryType::Auto && !fits);
    inside(std::move(node), op->body);
  }

  void touch(const std::string& name, Halide::Type type, const Halide::Expr& index, const Halide::Parameter& argument) {
    const int id = buffer_id(name, {.name = name, .element_bytes = type.bytes(), .bytes = std::nullopt, .is_argument = false});
    Access access{.buffer = id, .place = index_.read(index)};
    if (!access.place) {
      access.walks.push_back({Span::kLane, 0, index.type().lanes()});
      for (const LoopNode* node : path_)
        if (node->kind != LoopNode::Kind::allocation && node->trips) access.walks.push_back({node->id, 0, *node->trips});
    }
    here().accesses.push_back(std::move(access));
    if (argument.defined() && argument.is_buffer() && argument.host_alignment() > type.bytes())
      tree_.host_alignment_bytes = std::max(tree_.host_alignment_bytes, argument.host_alignment());
  }

  void visit(const ir::Load* op) override {
    touch(op->name, op->type, op->index, op->param);
    op->index.accept(this);
    op->predicate.accept(this);
  }

  void visit(const ir::Store* op) override {
    touch(op->name, op->value.type(), op->index, op->param);
    ir::IRVisitor::visit(op);
  }

  void count(Halide::Type type) {
    if (type.is_float()) here().flops += type.lanes();
  }
  template <typename Node>
  void arithmetic(const Node* op) {
    count(op->type);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Add* op) override { arithmetic(op); }
  void visit(const ir::Sub* op) override { arithmetic(op); }
  void visit(const ir::Mul* op) override { arithmetic(op); }
  void visit(const ir::Div* op) override { arithmetic(op); }
  void visit(const ir::Min* op) override { arithmetic(op); }
  void visit(const ir::Max* op) override { arithmetic(op); }
  void visit(const ir::Call* op) override {
    const bool function = op->call_type == ir::Call::PureExtern || op->call_type == ir::Call::Extern;
    if (function || op->is_strict_float_intrinsic()) count(op->type);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::VectorReduce* op) override {
    if (op->type.is_float()) here().flops += op->value.type().lanes() - op->type.lanes();
    ir::IRVisitor::visit(op);
  }

  const StatementFacts& facts_;
  IndexReader index_;
  LoopTree tree_;
  std::map<std::string, int> buffer_ids_;
  std::vector<LoopNode*> path_{&tree_.root};
  int last_loop_ = 0;
};

}  // namespace

LoopTree read_loops(const Halide::Internal::Stmt& statement, const StatementFacts& facts) { return LoopReader(facts).read(statement); }

}  // namespace kiln::generators::host
