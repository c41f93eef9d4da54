// What one kernel computes, recognised from an algorithm's stages: operands, values in order, what is stored. No threads and no memories yet.
//
// A kernel runs over elements, each at a column and a row. Columns are neighbours in memory; what a rank of three or more has beside them counts as
// rows. Values are of every element, or one a row; those of a row may be reductions over its elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"

namespace kiln::generators::cuda {

// Which elements share one of an operand's.
enum class Reach : std::uint8_t {
  every,   // none: indexed by column and rows as the kernel runs
  turned,  // none, but the operand's neighbours are of one column: indexed (row, column)
  column,  // the rows: indexed by column alone
  row,     // a row's columns: indexed by rows alone
  // Of a dot product's operands, which run over its terms:
  row_terms,        // indexed (term, row): a row's terms are neighbours
  column_terms,     // indexed (term, column): a column's terms are neighbours
  terms_of_columns  // indexed (column, term): the columns of a term are neighbours
};
std::string_view print(Reach reach);

struct Operand {
  std::string name;     // in the kernel's text
  std::string buffer;   // the argument, or the stage computed at root
  DType type;
  Reach reach = Reach::every;
  bool is_written = false;
  bool is_of_earlier = false;  // read, and written by an earlier kernel of the program, which may still run when this one begins
  bool operator==(const Operand&) const = default;
};

struct Scalar {
  std::string name;     // the scalar input's
  DType type;
  bool operator==(const Scalar&) const = default;
};

// An axis of the kernel: 0 runs over the columns, the others over rows, innermost first.
struct KernelAxis {
  std::string loop;     // the stage's word for it
  Axis source;          // a place in the call's arguments that has its extent
  std::int64_t extent = 0;  // under the problem
  bool operator==(const KernelAxis&) const = default;
};

struct Value {
  enum class Kind : std::uint8_t {
    element, row,
    reduction,  // one a row, over its elements
    dot,        // one an element, over the computation's terms
  };
  std::string name;          // the stage's
  Kind kind = Kind::element;
  DType type;
  // Leaves: `load` of an operand or an earlier value by name, without indices; `parameter`; `extent` and `loop` of an axis, as "axis0" or "terms". Of a reduction or dot: what
  // one element, or one term, adds.
  ExpressionPtr expression;
  Op combine = Op::add;      // of a reduction: add, mul, min, max; of a dot: add
  ExpressionPtr initial;     // of both
  bool is_kept = false;      // of an element's: stays in registers from its first use on
  bool is_exact = true;      // not to be approximated: an output that would show it comes of it
};

struct Output {
  int operand = 0;      // place in operands
  int value = 0;        // place in values
  bool operator==(const Output&) const = default;
};

struct Computation {
  std::string name;                 // the stage that the kernel was made for
  std::vector<KernelAxis> axes;
  std::optional<KernelAxis> terms;  // of the dot products, when there are any: all add up the same ones
  std::vector<Operand> operands;    // read first, in order of first use, then written
  std::vector<Scalar> scalars;
  std::vector<Value> values;        // each after those it uses
  std::vector<Output> outputs;

  const Operand* find_operand(const std::string& name) const;
  const Value* find_value(const std::string& name) const;
  bool has_reductions() const;
  std::vector<const Value*> dots() const;  // in the order of first use; none without terms
  std::int64_t columns() const { return axes.front().extent; }
  std::int64_t rows() const;        // the product over the other axes
};

// A line each: axes, operands, values, outputs. What goldens compare and `explain` shows.
std::string print(const Computation& computation);

}  // namespace kiln::generators::cuda
