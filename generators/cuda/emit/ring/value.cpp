// What is stored of a sum: the algorithm's own expression, with what it reads beside the product. Elements outside the output read its last ones: nobody stores
// them.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "generators/cuda/emit/ring/kernel.h"
#include "generators/cuda/emit/storage.h"

namespace kiln::generators::cuda {

bool RingKernel::needs(const std::string& word) const {
  return std::any_of(value_.leaves.begin(), value_.leaves.end(), [&](const ExpressionPtr& leaf) {
    if (leaf->op == Op::loop) return leaf->name == (word == "column" ? "axis0" : "axis1");
    if (leaf->op != Op::load) return false;
    const Operand* one = computation().find_operand(leaf->name);
    return one != nullptr && (one->reach == Reach::every || one->reach == (word == "column" ? Reach::column : Reach::row));
  });
}

// Unswapped, a pair is two columns of a row.
bool RingKernel::comes_in_pairs(const Operand& one) const {
  return !plan_.is_swapped && one.type.bytes() >= 2 && (one.reach == Reach::every || one.reach == Reach::column);
}

void RingKernel::read_operands() {
  const int words = plan_.chunk() / 2;
  const bool has_chunks = plan_.chunks() > 1 && !is_split();
  lines_.add(fmt::format("const int j = {}block * 4 + half * 2;", has_chunks ? fmt::format("c * {} + ", words) : ""));
  const std::string tall = "warp * 16 + half * 8 + lane / 4", wide = "block * 8 + lane % 4 * 2";
  if (!plan_.is_swapped) {
    if (needs("row")) lines_.add(fmt::format("const int row = min(first_row + {}, rows - 1);", tall));
    if (needs("column")) lines_.add(fmt::format("const int column = min(first_column + {}, columns - 2);", wide));
  } else {
    if (needs("row")) lines_.add(fmt::format("const int row = min(first_row + {0}, rows - 1), next_row = min(first_row + {0} + 1, rows - 1);", wide));
    if (needs("column")) lines_.add(fmt::format("const int column = min(first_column + {}, columns - 1);", tall));
  }
  for (const Operand& one : computation().operands) {
    if (!pointers_.contains(one.name) || !comes_in_pairs(one)) continue;
    const std::string at = one.reach == Reach::every ? "(i64)row * columns + column" : "column", &pointer = pointers_.at(one.name);
    const int bytes = 2 * one.type.bytes();
    lines_.add(fmt::format("const Vec<{0}> {1}_v = load_stream<{0}, {2}>({1} + {3});", bytes, pointer, one.is_of_earlier ? "LOAD_WRITTEN" : "LOAD_PLAIN", at));
  }
}

// What a tile's results read of rows and columns is asked for before its products are made: where it is read there is nothing else to do while it comes.
void RingKernel::prefetch_operands() {
  for (const Operand& one : computation().operands) {
    if (!pointers_.contains(one.name) || one.is_of_earlier || (one.reach != Reach::row && one.reach != Reach::column)) continue;
    const bool is_along_p = (one.reach == Reach::column) == plan_.is_swapped;
    const int in_a_line = 128 / one.type.bytes();
    lines_.add(fmt::format("if (t * {0} < {1}) prefetch_l1({2} + min(at.{3} + t * {0}, {4} - 1));", in_a_line, is_along_p ? "TILE_P" : "TILE_Q", pointers_.at(one.name), is_along_p ? "p" : "q",
                           one.reach == Reach::column ? "columns" : "rows"));
  }
}

std::string RingKernel::value(int odd) const {
  if (value_.leaves.empty()) return sum_of(0, odd);
  return value_.call([&](const Expression& leaf) { return argument(leaf, odd); });
}

std::string RingKernel::argument(const Expression& leaf, int odd) const {
  if (leaf.op == Op::parameter) return scalars_.at(leaf.name);
  if (leaf.op == Op::extent) return leaf.name == "axis0" ? "columns" : leaf.name == "axis1" ? "rows" : "terms";
  if (leaf.op == Op::loop) {
    const bool is_column = leaf.name == "axis0";
    if (odd == 0 || is_column == plan_.is_swapped) return is_column ? "column" : "row";
    return is_column ? "column + 1" : "next_row";
  }
  const std::vector<const Value*> dots = plan_.dots();
  for (std::size_t product = 0; product < dots.size(); ++product)
    if (dots[product]->name == leaf.name) return sum_of(product, odd);
  return element_operand(*computation().find_operand(leaf.name), odd);
}

// A thread has the sums of all products of an element: along Q so many registers further, along P in another instruction.
std::string RingKernel::sum_of(std::size_t product, int odd) const {
  const int place = static_cast<int>(product), further = odd + (plan_.q.operands.size() > 1 ? place * plan_.q.tile / 2 : 0), own = plan_.results_high();
  const std::string index = further == 0 ? "j" : fmt::format("j + {}", further);
  const bool is_of_another = plan_.p.operands.size() > 1 && (place > 0 || own == 1);
  const std::string high = !is_of_another ? "high" : own == 1 ? std::to_string(place) : fmt::format("high + {}", place * own);
  const std::string sum = is_split() ? fmt::format("sums[{}]", index) : sums(high, index), first = literal(*plan_.dots()[product]->initial);
  return first == "0.0f" ? sum : fmt::format("{} + {}", first, sum);
}

std::string RingKernel::element_operand(const Operand& one, int odd) const {
  const std::string& pointer = pointers_.at(one.name);
  if (comes_in_pairs(one)) return fmt::format("{}({}_v.w, {})", storage_of(one.type).at, pointer, odd);
  const std::string row = odd == 1 && plan_.is_swapped ? "next_row" : "row", column = odd == 1 && !plan_.is_swapped ? "column + 1" : "column";
  const std::string at = one.reach == Reach::every ? fmt::format("(i64){} * columns + {}", row, column) : one.reach == Reach::column ? column : row;
  return read_one(one.type, fmt::format("{}({} + {})", one.is_of_earlier ? "load_written" : "__ldg", pointer, at));
}

}  // namespace kiln::generators::cuda
