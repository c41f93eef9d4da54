#include "dsl/footprint_reads.h"

#include <algorithm>

namespace kiln {
namespace {

bool counts_as_flop(const Expression& e) {
  if (!e.type.is_float()) return false;
  switch (e.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::min:
    case Op::max: return true;
    case Op::call: return !e.name.starts_with("likely");
    default: return false;
  }
}

class Collector {
 public:
  Collector(const LoopNest& nest, int stage, const Definition& definition) : nest_(nest), stage_(stage), definition_(definition) {}

  DefinitionReads pure() {
    const StageLoops& stage = nest_.stages()[static_cast<std::size_t>(stage_)];
    if (stage.wraps >= 0) {
      reads_.loads.push_back({.stage = definition_.producers.front(), .argument = -1, .indices = {}, .lets = {}, .is_copy = true});
    } else {
      for (const ExpressionPtr& value : stage.facts->stage->values) walk(*value);
    }
    return std::move(reads_);
  }

  DefinitionReads update(const Update& update) {
    reads_.own.push_back({.stage = stage_, .argument = -1, .indices = update.indices, .lets = {}, .is_copy = false});
    for (const ExpressionPtr& index : update.indices) walk(*index);
    for (const ExpressionPtr& value : update.values) walk(*value);
    if (update.predicate) walk(*update.predicate);
    return std::move(reads_);
  }

 private:
  void walk(const Expression& e) {
    if (counts_as_flop(e)) ++reads_.flops;
    if (e.op == Op::let) {
      walk(*e.args[0]);
      lets_.emplace_back(e.name, e.args[0]);
      walk(*e.args[1]);
      lets_.pop_back();
      return;
    }
    if (e.op == Op::load) add(e);
    for (const ExpressionPtr& arg : e.args) walk(*arg);
  }

  void add(const Expression& load) {
    ReadPlace place{.stage = -1, .argument = -1, .indices = load.args, .lets = lets_, .is_copy = false};
    const AlgorithmFacts& facts = nest_.facts();
    const int known = facts.find(load.name);
    if (known == stage_) {
      place.stage = stage_;
      reads_.own.push_back(std::move(place));
    } else if (known >= 0) {
      const auto& uses = definition_.facts->uses;
      const auto use = std::find_if(uses.begin(), uses.end(), [&](const Use& u) { return u.producer == known; });
      place.stage = definition_.producers[static_cast<std::size_t>(use - uses.begin())];
      add_once(std::move(place));
    } else {
      const auto& arguments = facts.algorithm->arguments;
      const auto argument = std::find_if(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.name == load.name; });
      if (argument == arguments.end()) return;  // a table that the generator holds is part of the code
      place.argument = static_cast<int>(argument - arguments.begin());
      reads_.loads.push_back(std::move(place));
    }
  }

  // The same value twice is loaded, and when it is inlined computed, once.
  void add_once(ReadPlace place) {
    for (const ReadPlace& known : reads_.loads) {
      if (known.stage != place.stage || known.lets.size() != place.lets.size()) continue;
      if (std::equal(known.indices.begin(), known.indices.end(), place.indices.begin(), place.indices.end(),
                     [](const ExpressionPtr& a, const ExpressionPtr& b) { return equal(*a, *b); }))
        return;
    }
    reads_.loads.push_back(std::move(place));
  }

  const LoopNest& nest_;
  int stage_;
  const Definition& definition_;
  DefinitionReads reads_;
  Lets lets_;
};

}  // namespace

std::vector<std::vector<DefinitionReads>> collect_reads(const LoopNest& nest) {
  std::vector<std::vector<DefinitionReads>> reads;
  for (std::size_t s = 0; s < nest.stages().size(); ++s) {
    const StageLoops& stage = nest.stages()[s];
    std::vector<DefinitionReads>& own = reads.emplace_back();
    for (std::size_t d = 0; d < stage.definitions.size(); ++d) {
      Collector collector(nest, static_cast<int>(s), stage.definitions[d]);
      own.push_back(d == 0 ? collector.pure() : collector.update(stage.facts->stage->updates[d - 1]));
    }
  }
  return reads;
}

}  // namespace kiln
