// The small functions of a kernel's text: one a value, from what it reads to what it is. Nothing in them knows of threads or memory.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "generators/cuda/emit/expression.h"
#include "generators/cuda/program/computation.h"

namespace kiln::generators::cuda {

// C identifiers for an algorithm's names, each once: `blur#2` is blur_2. The prelude's own names and the language's are taken.
class Identifiers {
 public:
  std::string make(const std::string& wanted);

 private:
  std::set<std::string> taken_;
};

// A call of a value's function, or what stands in its place when the value is nothing but a copy.
struct Called {
  std::string function;              // empty: the only argument itself
  std::vector<ExpressionPtr> leaves; // what the call's arguments are, in order

  // `argument` prints a leaf where the call stands.
  std::string call(const std::function<std::string(const Expression&)>& argument) const;
};

class Functions {
 public:
  // `converts`: what an algorithm writes out and a GPU has an instruction for (conversions.h) becomes that instruction.
  Functions(Identifiers& identifiers, bool converts) : identifiers_(identifiers), converts_(converts) {}

  // Writes the function of an expression; `comment` says what it is.
  Called add(const std::string& name, const std::string& comment, const ExpressionPtr& expression, Math math);

  const std::string& text() const { return text_; }

 private:
  Identifiers& identifiers_;
  bool converts_;
  std::string text_;
};

}  // namespace kiln::generators::cuda
