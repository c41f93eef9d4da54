#include "dsl/read_schedule_factoring.h"

#include <algorithm>
#include <set>

#include "dsl/read_schedule_words.h"

namespace kiln {
namespace {

using Halide::Internal::Function;
using HalideVariable = Halide::Internal::ReductionVariable;

bool calls(const Halide::Expr& value, const std::string& name) {
  class Finder : public Halide::Internal::IRVisitor {
   public:
    explicit Finder(const std::string& wanted) : wanted_(wanted) {}
    bool found = false;

   private:
    using IRVisitor::visit;
    void visit(const Halide::Internal::Call* op) override {
      IRVisitor::visit(op);
      found = found || op->name == wanted_;
    }
    const std::string& wanted_;
  } finder(name);
  value.accept(&finder);
  return finder.found;
}

// The update that adds the partial sums up, or -1.
int reading_update(const Function& reduced, const std::string& partial) {
  for (std::size_t u = 0; u < reduced.updates().size(); ++u)
    if (std::ranges::any_of(reduced.update(static_cast<int>(u)).values(), [&](const Halide::Expr& value) { return calls(value, partial); }))
      return static_cast<int>(u);
  return -1;
}

class FactoringReader {
 public:
  FactoringReader(const Update& original, const std::string& stage) : original_(original), stage_(stage) {}

  Factoring read(int update, const Function& reduced, const Function& partial) {
    const std::vector<HalideVariable>& kept = reduced.update(update).schedule().rvars();
    factoring_.update = update;
    for (const HalideVariable& variable : kept) name(variable, factoring_.reduced_loops);
    for (const HalideVariable& variable : partial.update(0).schedule().rvars()) name(variable, factoring_.partial_loops);
    find_split();
    const std::size_t rank = partial.args().size() - kept.size();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::string& dimension = partial.args()[rank + i];
      const std::string& ours = factoring_.dimensions[dimension] = is_nobodys(dimension) ? "part" + std::to_string(i) : last_word(dimension);
      factoring_.kept.insert(factoring_.kept.end(), {factoring_.reduced_loops.at(kept[i].var), ours});
    }
    return std::move(factoring_);
  }

 private:
  // `pixel$y` is the algorithm's own loop, called pixel.y there, or pixel when the domain has one dimension; `rows` came of a split.
  void name(const HalideVariable& variable, std::map<std::string, std::string>& names) {
    const std::size_t dollar = variable.var.rfind('$');
    const auto is_own = [&](const ReductionVariable& own) {
      return dollar != std::string::npos && (own.name.ends_with("." + variable.var.substr(dollar + 1)) || original_.reduction.size() == 1);
    };
    const auto own = std::ranges::find_if(original_.reduction, is_own);
    if (own != original_.reduction.end()) {
      names[variable.var] = own->name;
      found_.insert(own->name);
    } else {
      names[variable.var] = last_word(variable.var);
      split_.push_back(variable);
    }
  }

  void find_split() {
    if (split_.empty() && found_.size() == original_.reduction.size()) return;
    if (split_.size() != 2 || found_.size() + 1 != original_.reduction.size()) cannot_say(stage_, "an rfactor of more than one split loop");
    const auto gone = std::ranges::find_if(original_.reduction, [&](const auto& own) { return !found_.contains(own.name); });
    const auto first = Halide::Internal::as_const_int(split_[0].extent), second = Halide::Internal::as_const_int(split_[1].extent);
    if (first.has_value() == second.has_value()) cannot_say(stage_, "an rfactor of a split whose inner loop is not told from its outer");
    const HalideVariable &inner = split_[first ? 0 : 1], &outer = split_[first ? 1 : 0];
    factoring_.split = {gone->name, last_word(outer.var), last_word(inner.var), std::int64_t{first ? *first : *second}, std::string("GuardWithIf")};
  }

  const Update& original_;
  const std::string& stage_;
  Factoring factoring_;
  std::set<std::string> found_;         // the algorithm's own loops that are there still
  std::vector<HalideVariable> split_;   // those that came of splits
};

}  // namespace

std::map<std::string, std::string> find_factored(const std::vector<Function>& functions, const Algorithm& algorithm) {
  std::map<std::string, std::string> reduced_by;
  if (functions.size() <= algorithm.stages.size()) return reduced_by;
  for (const Function& function : functions)
    for (const Function& reduced : functions)
      if (function.name().starts_with(reduced.name() + "_intm") && !algorithm.find_stage(function.name())) reduced_by[function.name()] = reduced.name();
  return reduced_by;
}

Factoring read_factoring(const Stage& original, const Function& reduced, const Function& partial) {
  const int update = reading_update(reduced, partial.name());
  if (update < 0 || update >= static_cast<int>(original.updates.size()) || partial.updates().size() != 1)
    cannot_say(original.name, "an rfactor of an rfactor");
  return FactoringReader(original.updates[static_cast<std::size_t>(update)], original.name).read(update, reduced, partial);
}

}  // namespace kiln
