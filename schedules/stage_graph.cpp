#include "schedules/stage_graph.h"

#include <algorithm>
#include <set>

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// All expressions of a stage, each definition's indices, values, predicates and reduction bounds.
template <typename Visit>
void for_each_expression(const Stage& stage, const Visit& visit) {
  for (const ExpressionPtr& value : stage.values) visit(*value);
  for (const Update& update : stage.updates) {
    for (const ExpressionPtr& index : update.indices) visit(*index);
    for (const ExpressionPtr& value : update.values) visit(*value);
    if (update.predicate) visit(*update.predicate);
  }
}

bool bounds_load(const Stage& stage, const std::string& producer) {
  bool found = false;
  for (const Update& update : stage.updates) {
    for (const ReductionVariable& variable : update.reduction) {
      for (const ExpressionPtr& bound : {variable.min, variable.extent}) {
        for_each_node(*bound, [&](const Expression& node) { found = found || (node.op == Op::load && node.name == producer); });
      }
    }
  }
  return found;
}

// The loop that an index equals but for a constant: `x`, `x + 1`, `x - 1`.
std::optional<std::string> shifted_loop(const Expression& index) {
  if (index.op == Op::loop) return index.name;
  if (index.op != Op::add && index.op != Op::sub) return std::nullopt;
  const Expression &a = *index.args[0], &b = *index.args[1];
  if (a.op == Op::loop && b.op == Op::constant) return a.name;
  if (index.op == Op::add && b.op == Op::loop && a.op == Op::constant) return b.name;
  return std::nullopt;
}

// Without the names that are bound around it.
const Expression& body(const Expression& expression) { return expression.op == Op::let ? body(*expression.args[1]) : expression; }

struct Loads {
  std::int64_t count = 0;
  std::set<std::string> distinct;  // as text
  bool all_pointwise = true;
  std::vector<std::optional<std::string>> shifted;  // by dimension: a loop of the reader that some load follows
};

Loads loads_of(const Stage& reader, const Stage& producer) {
  Loads loads;
  loads.shifted.resize(producer.loops.size());
  for_each_expression(reader, [&](const Expression& expression) {
    for_each_node(expression, [&](const Expression& node) {
      if (node.op != Op::load || node.name != producer.name) return;
      ++loads.count;
      loads.distinct.insert(print(node));
      loads.all_pointwise = loads.all_pointwise && is_pointwise_load(node, reader);
      for (std::size_t d = 0; d < node.args.size() && d < loads.shifted.size(); ++d) {
        if (!loads.shifted[d]) loads.shifted[d] = shifted_loop(*node.args[d]);
      }
    });
  });
  return loads;
}

class Graph {
 public:
  explicit Graph(const Algorithm& algorithm) : algorithm_(algorithm), facts_(algorithm.stages.size()) {
    for (std::size_t s = algorithm.stages.size(); s-- > 0;) examine(s);
  }

  std::vector<PlacedStage> placed() const {
    std::vector<PlacedStage> result;
    for (std::size_t s = 0; s < facts_.size(); ++s) {
      const Stage& stage = algorithm_.stages[s];
      if (!is_wrapper(algorithm_, stage) && !algorithm_.is_output(stage.name)) result.push_back(facts_[s]);
    }
    return result;
  }

 private:
  // Readers come later in the order and are known already.
  void examine(std::size_t s) {
    const Stage& stage = algorithm_.stages[s];
    PlacedStage& facts = facts_[s];
    facts.stage = s;
    facts.is_pure = stage.updates.empty();
    facts.follows.resize(stage.loops.size());
    for (std::size_t d = 0; d < stage.loops.size() && algorithm_.is_output(stage.name); ++d) facts.follows[d] = d;
    facts.is_pointwise = true;
    std::vector<std::size_t> outputs;
    bool in_bounds = false;
    for (std::size_t r = s + 1; r < algorithm_.stages.size(); ++r) {
      const Stage& reader = algorithm_.stages[r];
      in_bounds = in_bounds || bounds_load(reader, stage.name);
      const Loads loads = loads_of(reader, stage);
      if (loads.count == 0) continue;
      facts.readers.push_back({r, loads.count, loads.all_pointwise});
      const bool is_output = algorithm_.is_output(reader.name);
      facts.is_pointwise = facts.is_pointwise && loads.all_pointwise && reader.updates.empty() && (is_output || facts_[r].is_pointwise);
      follow(facts, loads, reader, r);
      if (is_output) {
        outputs.push_back(r);
      } else {
        facts.later.push_back(r);
        facts.later.insert(facts.later.end(), facts_[r].later.begin(), facts_[r].later.end());
        if (facts_[r].host) outputs.push_back(*facts_[r].host);
        if (!facts_[r].host) in_bounds = true;  // what its reader cannot leave, it cannot leave either
      }
    }
    std::sort(facts.later.begin(), facts.later.end());
    facts.later.erase(std::unique(facts.later.begin(), facts.later.end()), facts.later.end());
    const bool one = !outputs.empty() && std::count(outputs.begin(), outputs.end(), outputs[0]) == static_cast<std::ptrdiff_t>(outputs.size());
    if (one && !in_bounds && algorithm_.stages[outputs[0]].updates.empty() && !algorithm_.stages[outputs[0]].loops.empty()) facts.host = outputs[0];
  }

  void follow(PlacedStage& facts, const Loads& loads, const Stage& reader, std::size_t r) const {
    for (std::size_t d = 0; d < loads.shifted.size(); ++d) {
      if (!loads.shifted[d]) continue;
      const auto loop = std::find(reader.loops.begin(), reader.loops.end(), *loads.shifted[d]);
      if (loop != reader.loops.end() && !facts.follows[d]) facts.follows[d] = facts_[r].follows[static_cast<std::size_t>(loop - reader.loops.begin())];
    }
  }

  const Algorithm& algorithm_;
  std::vector<PlacedStage> facts_;
};

}  // namespace

std::vector<std::vector<Reader>> readers_of(const Algorithm& algorithm) {
  std::vector<std::vector<Reader>> readers(algorithm.stages.size());
  for (std::size_t s = 0; s < algorithm.stages.size(); ++s) {
    for (std::size_t r = s + 1; r < algorithm.stages.size(); ++r) {
      const Stage &stage = algorithm.stages[s], &reader = algorithm.stages[r];
      const Loads loads = loads_of(reader, stage);
      const bool in_bounds = bounds_load(reader, stage.name);
      if (loads.count == 0 && !in_bounds) continue;
      readers[s].push_back({r, static_cast<std::int64_t>(loads.distinct.size()) + (in_bounds ? 1 : 0), loads.all_pointwise && !in_bounds});
    }
  }
  return readers;
}

std::vector<PlacedStage> placed_stages(const Algorithm& algorithm) { return Graph(algorithm).placed(); }

std::vector<std::string> update_loops(const Stage& stage, const Update& update) {
  std::vector<std::string> loops;
  for (std::size_t d = 0; d < update.indices.size(); ++d) {
    if (update.indices[d]->op == Op::loop && update.indices[d]->name == stage.loops[d]) loops.push_back(stage.loops[d]);
  }
  return loops;
}

bool is_associative(const Stage& stage, const Update& update) {
  if (update.values.size() != 1) return false;
  const Expression& whole = *update.values[0];
  const Expression& value = body(whole);
  if (value.op != Op::add && value.op != Op::mul && value.op != Op::min && value.op != Op::max) return false;
  const auto is_self = [&](const Expression& node) {
    if (node.op != Op::load || node.name != stage.name || node.args.size() != update.indices.size()) return false;
    for (std::size_t d = 0; d < node.args.size(); ++d) {
      if (!equal(*node.args[d], *update.indices[d])) return false;
    }
    return true;
  };
  int self = 0;
  for_each_node(whole, [&](const Expression& node) { self += node.op == Op::load && node.name == stage.name; });
  return self == 1 && (is_self(*value.args[0]) || is_self(*value.args[1]));
}

}  // namespace kiln::schedules
