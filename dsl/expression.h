// What a stage computes, as our own immutable tree. Printers, hashes, footprints and spaces see only this, never Halide's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dsl/dtype.h"

namespace kiln {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

enum class Op : std::uint8_t {
  constant,     // value; of type f32 one that a float holds
  loop,         // name: a pure loop of the stage it stands in
  reduction,    // name: a reduction variable of the update it stands in, as in "r.x"
  parameter,    // name: a scalar input
  extent,       // name: "A.extent.0", "A.min.1", "A.stride.1": a property of a buffer argument known at the call
  load,         // name: a stage, in an input's wrapper the argument, or `name@digest` for a buffer that the generator holds;
                // component: which value of a Tuple; args: the indices, innermost first
  cast,         // args[0] converted to type
  reinterpret,  // args[0]'s bits read as type
  add, sub, mul, div, mod, min, max,
  eq, ne, lt, le, gt, ge,
  logical_and, logical_or, logical_not,
  select,       // condition, then, else
  let,          // name: bound to args[0] in args[1]
  variable,     // name: bound by an enclosing let
  call,         // name: a function by Halide's name without the type suffix, as in "exp"
};

struct Expression {
  Op op = Op::constant;
  DType type;
  std::string name;
  int component = 0;
  std::variant<std::int64_t, std::uint64_t, double, std::string> value = std::int64_t{0};  // constant only; a string in some calls' arguments
  std::vector<ExpressionPtr> args;
};

// Equality by structure and value; NaN constants are equal to themselves.
bool equal(const Expression& a, const Expression& b);

// A prefix form that parses back to an equal tree: `(add f32 (load f32 c 0 n m) (load f32 bias.in 0 n))`.
// A bare word is a loop, a bare integer an i32 constant; everything else is `(operation type fields… arguments…)`.
std::string print(const Expression& expression);
ExpressionPtr parse_expression(std::string_view text);  // throws DataError with the position: this form comes from the store, not from users

// The same value without lets: in place of each variable stands what it was bound to, one node in all places. Variables that nothing here binds stay.
ExpressionPtr without_lets(const ExpressionPtr& expression);

// Calls `visit` on every node, parents first.
template <typename Visit>
void for_each_node(const Expression& root, const Visit& visit) {
  visit(root);
  for (const ExpressionPtr& arg : root.args) for_each_node(*arg, visit);
}

}  // namespace kiln
