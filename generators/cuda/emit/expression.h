// An algorithm's expressions as CUDA C++: what stands in the small functions of a kernel's text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/expression.h"

namespace kiln::generators::cuda {

// How f32 functions that the special-function unit approximates are printed. Their error, some 2^-21 of the value, disappears where the result is rounded to
// 16 bits or fewer.
enum class Math : std::uint8_t { exact, approximate };

// The C++ type that holds a value: f32, bf16 and f16 are `float`, of which a bf16's and an f16's is a rounded one. Throws ScheduleError for a type that kernels do not compute with.
std::string_view value_type(DType type);

// A C++ literal of the constant. Throws as above.
std::string literal(const Expression& constant);

// Prints one body: statements that name what is used several times, then the value. Casts round where they stand.
class BodyPrinter {
 public:
  // `leaf` prints a load, loop, parameter or extent.
  BodyPrinter(std::function<std::string(const Expression&)> leaf, Math math) : leaf_(std::move(leaf)), math_(math) {}

  // The text of the value; statements that it needs are in statements(). Throws ScheduleError for a function or type that no kernel can say.
  std::string value(const ExpressionPtr& root);

  const std::vector<std::string>& statements() const { return statements_; }

 private:
  void count(const Expression& e);
  std::string text(const Expression& e);
  std::string fresh(const Expression& e);
  std::string call(const Expression& e);
  std::string cast(const Expression& e);
  std::string reinterpret(const Expression& e);
  std::string arithmetic(const Expression& e, std::string_view op);
  std::string division(const Expression& e);
  std::string rounded(DType type, const std::string& text) const;
  bool is_approximate(DType type) const;

  std::function<std::string(const Expression&)> leaf_;
  Math math_;
  std::map<std::string, int> uses_;            // by the expression's printed form
  std::map<std::string, std::string> named_;   // the same -> the local that holds it
  std::vector<std::string> statements_;
};

}  // namespace kiln::generators::cuda
