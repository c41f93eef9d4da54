#include "generators/cuda/plan/ring_matrices.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "dsl/error.h"
#include "dsl/float8_pattern.h"

namespace kiln::generators::cuda {
namespace {

constexpr DType kCode{TypeClass::unsigned_int, 8};

// Sums of so many products are kept beside each other: two take all registers that there are at the tiles that are fast.
constexpr std::size_t kMostProducts = 2;

bool is_short_float(DType type) { return type.is_float() && type.bits == 16; }

class Reader {
 public:
  Reader(const Computation& computation, const std::string& leader) : computation_(computation), leader_(leader) {}

  RingMatrices read() const {
    const std::vector<const Value*> dots = computation_.dots();
    if (dots.size() > kMostProducts) refuse(fmt::format("{} products are summed for each element; {} at most share a kernel", dots.size(), kMostProducts));
    RingMatrices matrices;
    for (const Value* dot : dots) {
      const auto [rows, columns] = factors_of(*dot);
      if (matrices.columns.empty()) {
        matrices.rows = rows;
        matrices.columns_have_terms_inside = has_terms_inside(columns);
      }
      require_shared(matrices, rows, columns);
      matrices.columns.push_back(columns);
    }
    return matrices;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw ScheduleError(fmt::format("{}: {}", leader_, why)); }

  const Operand& operand(int place) const { return computation_.operands[static_cast<std::size_t>(place)]; }
  bool has_terms_inside(int place) const { return operand(place).reach == Reach::column_terms; }

  // A factor of a term as it is in memory: of codes of E4M3 a product is that of what they stand for.
  int place_of(const Expression& factor) const {
    const Expression* e = &factor;
    const auto decoded = match_decode_float8(factor);
    if (decoded && decoded->format.name == kE4M3FN.name) e = decoded->value.get();
    if (e->op == Op::cast && e->type == kFloat32 && is_short_float(e->args[0]->type)) e = e->args[0].get();
    if (e->op != Op::load) return -1;
    for (std::size_t i = 0; i < computation_.operands.size(); ++i)
      if (computation_.operands[i].name == e->name) return static_cast<int>(i);
    return -1;
  }

  // What is read by row and term, and what by column and term.
  std::pair<int, int> factors_of(const Value& dot) const {
    const Expression& term = *dot.expression;
    std::array<int, 2> places{-1, -1};
    if (term.op == Op::mul) places = {place_of(*term.args[0]), place_of(*term.args[1])};
    if (places[0] < 0 || places[1] < 0 || places[0] == places[1])
      refuse(fmt::format("the terms of {} are {}; the tensor cores multiply two matrices as they are in memory", dot.name, print(term)));
    if (operand(places[0]).reach != Reach::row_terms) std::swap(places[0], places[1]);
    const Reach of_columns = operand(places[1]).reach;
    if (operand(places[0]).reach != Reach::row_terms || (of_columns != Reach::column_terms && of_columns != Reach::terms_of_columns))
      refuse(fmt::format("the terms of {} are no product of a row of one matrix and a column of another", dot.name));
    for (const int place : places)
      if (!is_short_float(operand(place).type) && operand(place).type != kCode)
        refuse(fmt::format("{} is of {}; the ring multiplies bf16, f16 and codes of E4M3", operand(place).name, print(operand(place).type)));
    if (operand(places[0]).type != operand(places[1]).type)
      refuse(fmt::format("the terms of {} are products of two types; the tensor cores multiply two of one", dot.name));
    return {places[0], places[1]};
  }

  // Several products are one of the rows that they share by all their columns.
  void require_shared(const RingMatrices& known, int rows, int columns) const {
    if (known.rows != rows)
      refuse(fmt::format("{} and {} are both read by row and term; products that share a kernel are of the rows of one matrix", operand(known.rows).name, operand(rows).name));
    if (known.columns.empty()) return;
    const Operand &first = operand(known.columns.front()), &own = operand(columns);
    if (known.columns.front() == columns) refuse(fmt::format("{} is multiplied by {} twice", operand(rows).name, own.name));
    if (first.type == kCode) refuse(fmt::format("{} and {} are of 8-bit floats, of which a kernel sums one product; compute each at root", first.name, own.name));
    if (known.columns_have_terms_inside != has_terms_inside(columns)) {
      const auto &terms = known.columns_have_terms_inside ? first : own, &others = known.columns_have_terms_inside ? own : first;
      refuse(fmt::format("the neighbours in {} are terms and in {} columns; matrices that share a kernel lie in one order", terms.name, others.name));
    }
  }

  const Computation& computation_;
  const std::string& leader_;
};

}  // namespace

RingMatrices ring_matrices(const Computation& computation, const std::string& leader) { return Reader(computation, leader).read(); }

}  // namespace kiln::generators::cuda
