#include "dsl/least_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace kiln {
namespace {

const Expression& without_casts(const Expression& e) { return e.op == Op::cast ? without_casts(*e.args[0]) : e; }

// A load of an argument, or of the stage that only reads it, at one loop a dimension.
struct Operand {
  const Argument* argument = nullptr;
  std::set<std::string> loops;
};

std::optional<Operand> operand_of(const Expression& e, const Algorithm& algorithm, const Problem& problem, std::map<std::string, std::int64_t>& extents) {
  const Expression& load = without_casts(e);
  if (load.op != Op::load) return std::nullopt;
  constexpr std::string_view kWrapper = ".in";
  const std::string name = load.name.ends_with(kWrapper) ? load.name.substr(0, load.name.size() - kWrapper.size()) : load.name;
  Operand operand;
  for (const Argument& argument : algorithm.arguments)
    if (argument.name == name && !argument.is_output) operand.argument = &argument;
  if (operand.argument == nullptr) return std::nullopt;
  for (std::size_t d = 0; d < load.args.size(); ++d) {
    const Expression& index = *load.args[d];
    if ((index.op != Op::loop && index.op != Op::reduction) || !operand.loops.insert(index.name).second) return std::nullopt;
    extents[index.name] = extent_of(problem, algorithm, name, static_cast<int>(d));
  }
  return operand;
}

struct Contraction {
  std::string stage, a, b;                         // c, A, B by name
  std::int64_t m = 1, n = 1, k = 1, batches = 1;   // extents
  std::int64_t a_bytes = 0, b_bytes = 0, c_bytes = 0;  // of an element; c: of the sum
  std::int64_t a_all = 0, b_all = 0;                // of the whole arguments
};

std::optional<Contraction> contraction_in(const Stage& stage, const Algorithm& algorithm, const Problem& problem) {
  if (stage.updates.size() != 1 || stage.types.size() != 1) return std::nullopt;
  const Update& update = stage.updates.front();
  const Expression& value = *update.values.front();
  if (update.reduction.empty() || value.op != Op::add) return std::nullopt;
  const bool self_first = value.args[0]->op == Op::load && value.args[0]->name == stage.name;
  const Expression& term = *value.args[self_first ? 1 : 0];
  if (term.op != Op::mul) return std::nullopt;
  std::map<std::string, std::int64_t> extents;
  const auto a = operand_of(*term.args[0], algorithm, problem, extents), b = operand_of(*term.args[1], algorithm, problem, extents);
  if (!a || !b || a->argument == b->argument) return std::nullopt;
  Contraction found;
  found.stage = stage.name;
  found.a = a->argument->name;
  found.b = b->argument->name;
  const std::set<std::string> kept(stage.loops.begin(), stage.loops.end());
  for (const auto& [loop, extent] : extents) {
    const bool in_a = a->loops.contains(loop), in_b = b->loops.contains(loop);
    if (in_a && in_b)
      (kept.contains(loop) ? found.batches : found.k) *= extent;
    else if (kept.contains(loop))
      (in_a ? found.m : found.n) *= extent;
    else
      return std::nullopt;
  }
  found.a_bytes = a->argument->type.bytes();
  found.b_bytes = b->argument->type.bytes();
  found.c_bytes = stage.types.front().bytes();
  found.a_all = found.batches * found.m * found.k * found.a_bytes;
  found.b_all = found.batches * found.n * found.k * found.b_bytes;
  return found;
}

std::int64_t argument_bytes(const Algorithm& algorithm, const Problem& problem) {
  std::int64_t sum = 0;
  for (const Argument& argument : algorithm.arguments) {
    if (argument.is_scalar) continue;
    std::int64_t bytes = argument.type.bytes();
    for (int d = 0; d < argument.rank; ++d) bytes *= extent_of(problem, algorithm, argument.name, d);
    sum += bytes;
  }
  return sum;
}

std::int64_t pieces(std::int64_t whole, std::int64_t piece) { return (whole + piece - 1) / piece; }

// The smallest tile for each number of tiles that `whole` can be cut into.
template <typename Visit>
void for_each_cut(std::int64_t whole, const Visit& visit) {
  for (std::int64_t tile = 1; tile <= whole;) {
    visit(tile);
    const std::int64_t count = pieces(whole, tile);
    if (count == 1) return;
    tile = pieces(whole, count - 1);
  }
}

class Tilings {
 public:
  Tilings(const Contraction& contraction, std::int64_t others, std::int64_t room) : c_(contraction), others_(others), room_(room) {}

  std::optional<LeastTraffic> least() {
    for_each_cut(c_.m, [&](std::int64_t m) {
      const std::int64_t n = std::min(c_.n, (room_ - c_.a_bytes * m) / (c_.b_bytes + c_.c_bytes * m));
      if (n >= 1) offer(c_.a_all * pieces(c_.n, n) + c_.b_all * pieces(c_.m, m), m, n, c_.stage);
    });
    keep_operand(c_.m, c_.a_bytes, c_.b_bytes, c_.a_all, c_.b_all, c_.a);
    keep_operand(c_.n, c_.b_bytes, c_.a_bytes, c_.b_all, c_.a_all, c_.b);
    return best_;
  }

 private:
  // A tile of rows x k of one operand stays, the other passes once a row of tiles.
  void keep_operand(std::int64_t rows_in_all, std::int64_t own_bytes, std::int64_t other_bytes, std::int64_t own_all, std::int64_t other_all,
                    const std::string& what) {
    for_each_cut(rows_in_all, [&](std::int64_t rows) {
      const std::int64_t k = std::min(c_.k, (room_ - c_.c_bytes * rows) / (own_bytes * rows + other_bytes));
      if (k < 1) return;
      const std::int64_t sums = c_.batches * c_.m * c_.n * c_.c_bytes;
      offer(own_all + other_all * pieces(rows_in_all, rows) + 2 * sums * (pieces(c_.k, k) - 1), rows, k, what);
    });
  }

  void offer(std::int64_t bytes, std::int64_t rows, std::int64_t columns, const std::string& what) {
    if (best_ && best_->bytes <= others_ + bytes) return;
    best_ = LeastTraffic{others_ + bytes, fmt::format("tiles of {} x {} of {}", rows, columns, what)};
  }

  const Contraction& c_;
  std::int64_t others_, room_;
  std::optional<LeastTraffic> best_;
};

}  // namespace

LeastTraffic least_traffic(const Algorithm& algorithm, const Problem& problem, std::int64_t room) {
  const std::int64_t once = argument_bytes(algorithm, problem);
  std::vector<Contraction> found;
  for (const Stage& stage : algorithm.stages)
    if (auto contraction = contraction_in(stage, algorithm, problem)) found.push_back(std::move(*contraction));
  if (found.size() == 1)
    if (auto least = Tilings(found.front(), once - found.front().a_all - found.front().b_all, room).least()) return *least;
  return {once, "every argument once"};
}

}  // namespace kiln
