// Rewrites one definition's expressions for rebuild_define: calls, loops, reduction variables and inputs by their new selves.
#pragma once

#include <Halide.h>

#include <map>
#include <set>
#include <string>

#include "dsl/read_algorithm_names.h"

namespace kiln {

// What the rewritten expressions refer to, filled while the functions are made.
struct Targets {
  const Names* names = nullptr;
  std::map<std::string, Halide::Internal::Function> functions;  // by old name
  std::map<std::string, Halide::Parameter> inputs;
};

class Renamer : public Halide::Internal::IRMutator {
 public:
  // `update`: -1 for the pure definition; `domain` is the update's new reduction domain.
  Renamer(Targets& targets, const StageNames& stage, int update, Halide::Internal::ReductionDomain domain)
      : targets_(targets), stage_(stage), update_(update), domain_(std::move(domain)) {}

 protected:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Variable* op) override;
  Halide::Expr visit(const Halide::Internal::Call* op) override;

 private:
  const Halide::Parameter& input(const Halide::Parameter& old);

  Targets& targets_;
  const StageNames& stage_;
  int update_;
  Halide::Internal::ReductionDomain domain_;
};

// The same with floats widened to f64: every expression of a float type comes out as f64.
class Widener final : public Renamer {
 public:
  using Renamer::Renamer;

 private:
  using Renamer::visit;
  Halide::Expr visit(const Halide::Internal::FloatImm* op) override;
  Halide::Expr visit(const Halide::Internal::Variable* op) override;
  Halide::Expr visit(const Halide::Internal::Cast* op) override;
  Halide::Expr visit(const Halide::Internal::Reinterpret* op) override;
  Halide::Expr visit(const Halide::Internal::Let* op) override;
  Halide::Expr visit(const Halide::Internal::Call* op) override;
  Halide::Expr call_in_own_type(const Halide::Internal::Call* op);

  std::set<std::string> float_lets_;
};

}  // namespace kiln
