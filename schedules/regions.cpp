#include "schedules/regions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Range {
  double low = -kInfinity, high = kInfinity;
  bool is_finite() const { return low > -kInfinity && high < kInfinity; }
};

Range joined(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// 0 · ∞ is 0 here: a loop that runs once adds nothing.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Range product(const Range& a, const Range& b) {
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

// The interval of an index, given those of the loops around it.
class RangeReader {
 public:
  RangeReader(const Algorithm& algorithm, const Problem& problem, std::map<std::string, Range> loops)
      : algorithm_(algorithm), problem_(problem), names_(std::move(loops)) {}

  Range read(const Expression& e) {
    switch (e.op) {
      case Op::constant:
      case Op::extent: return known(e);
      case Op::loop:
      case Op::reduction:
      case Op::variable: return named(e.name);
      case Op::let: return in_let(e);
      case Op::cast: return e.type.is_float() || e.args[0]->type.is_float() ? of_type(e.type) : read(*e.args[0]);
      case Op::add: return sum(read(*e.args[0]), read(*e.args[1]));
      case Op::sub: return sum(read(*e.args[0]), product(read(*e.args[1]), {-1, -1}));
      case Op::mul: return product(read(*e.args[0]), read(*e.args[1]));
      case Op::div: return quotient(read(*e.args[0]), read(*e.args[1]));
      case Op::mod: return remainder(read(*e.args[1]));
      case Op::min: return lesser(read(*e.args[0]), read(*e.args[1]));
      case Op::max: return product(lesser(product(read(*e.args[0]), {-1, -1}), product(read(*e.args[1]), {-1, -1})), {-1, -1});
      case Op::select: return joined(read(*e.args[1]), read(*e.args[2]));
      default: break;
    }
    // Halide's marks around an index leave its value alone.
    const bool is_mark = e.op == Op::call && !e.args.empty() && (e.name == "likely" || e.name == "likely_if_innermost" || e.name == "unsafe_promise_clamped");
    return is_mark ? read(*e.args[0]) : of_type(e.type);
  }

  void let(const std::string& name, const Range& range) { names_[name] = range; }

 private:
  static Range sum(const Range& a, const Range& b) { return {a.low + b.low, a.high + b.high}; }
  static Range lesser(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }
  static Range remainder(const Range& divisor) { return divisor.low > 0 ? Range{0, divisor.high - 1} : Range{}; }
  static Range quotient(const Range& a, const Range& b) {
    if (b.low != b.high || b.low <= 0) return {};
    return {std::floor(a.low / b.low), std::floor(a.high / b.low)};
  }
  // What an 8- or 16-bit value may be; wider ones are taken for unbounded.
  static Range of_type(DType type) {
    if (type.is_float() || type.bits > 16) return {};
    const double values = std::ldexp(1.0, type.bits);
    return type.kind == TypeClass::signed_int ? Range{-values / 2, values / 2 - 1} : Range{0, values - 1};
  }
  Range known(const Expression& e) const {
    const auto value = evaluate(e, algorithm_, problem_);
    if (!value) return {};
    return {static_cast<double>(*value), static_cast<double>(*value)};
  }
  Range named(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? Range{} : found->second;
  }
  Range in_let(const Expression& e) {
    const Range value = read(*e.args[0]);
    const auto shadowed = names_.find(e.name);
    const std::optional<Range> outer = shadowed == names_.end() ? std::nullopt : std::optional(shadowed->second);
    names_[e.name] = value;
    const Range result = read(*e.args[1]);
    if (outer) names_[e.name] = *outer; else names_.erase(e.name);
    return result;
  }

  const Algorithm& algorithm_;
  const Problem& problem_;
  std::map<std::string, Range> names_;
};

using Region = std::vector<std::optional<Range>>;

class Regions {
 public:
  Regions(const Algorithm& algorithm, const Problem& problem) : algorithm_(algorithm), problem_(problem), regions_(algorithm.stages.size()) {
    for (std::size_t s = 0; s < algorithm.stages.size(); ++s) regions_[s].resize(algorithm.stages[s].loops.size());
  }

  std::vector<std::vector<std::optional<std::int64_t>>> extents() {
    for (std::size_t s = regions_.size(); s-- > 0;) read_stage(s);
    std::vector<std::vector<std::optional<std::int64_t>>> result;
    for (const Region& region : regions_) {
      auto& extents = result.emplace_back();
      for (const auto& range : region)
        extents.push_back(range && range->is_finite() ? std::optional(static_cast<std::int64_t>(range->high - range->low) + 1) : std::nullopt);
    }
    return result;
  }

 private:
  void read_stage(std::size_t s) {
    const Stage& stage = algorithm_.stages[s];
    if (algorithm_.is_output(stage.name)) {
      const std::vector<std::int64_t> extents = output_extents(algorithm_, problem_, stage.name);
      for (std::size_t d = 0; d < extents.size(); ++d) widen(s, d, {0, static_cast<double>(extents[d] - 1)});
    }
    std::map<std::string, Range> loops;
    for (std::size_t d = 0; d < stage.loops.size(); ++d) loops[stage.loops[d]] = regions_[s][d].value_or(Range{});
    for (const ExpressionPtr& value : stage.values) collect(*value, stage, loops);
    for (const Update& update : stage.updates) {
      std::map<std::string, Range> all = loops;
      RangeReader bounds(algorithm_, problem_, loops);
      for (const ReductionVariable& variable : update.reduction) {
        const Range min = bounds.read(*variable.min), extent = bounds.read(*variable.extent);
        all[variable.name] = {min.low, min.high + extent.high - 1};
        for (const ExpressionPtr& bound : {variable.min, variable.extent}) collect(*bound, stage, loops);
      }
      for (const ExpressionPtr& index : update.indices) collect(*index, stage, all);
      for (const ExpressionPtr& value : update.values) collect(*value, stage, all);
      if (update.predicate) collect(*update.predicate, stage, all);
    }
  }

  void collect(const Expression& e, const Stage& reader, const std::map<std::string, Range>& loops) {
    if (e.op == Op::let) {
      collect(*e.args[0], reader, loops);
      std::map<std::string, Range> inner = loops;
      inner[e.name] = RangeReader(algorithm_, problem_, loops).read(*e.args[0]);
      return collect(*e.args[1], reader, inner);
    }
    for (const ExpressionPtr& arg : e.args) collect(*arg, reader, loops);
    const Stage* producer = e.op == Op::load && e.name != reader.name ? algorithm_.find_stage(e.name) : nullptr;
    if (!producer) return;
    const auto p = static_cast<std::size_t>(producer - algorithm_.stages.data());
    for (std::size_t d = 0; d < e.args.size(); ++d) widen(p, d, RangeReader(algorithm_, problem_, loops).read(*e.args[d]));
  }

  void widen(std::size_t s, std::size_t d, const Range& range) {
    auto& known = regions_[s][d];
    known = known ? joined(*known, range) : range;
  }

  const Algorithm& algorithm_;
  const Problem& problem_;
  std::vector<Region> regions_;
};

// c · loop ± constant with c ≥ 1: what it reads of a dimension is at least as wide as the loop.
std::optional<std::string> widening_loop(const Expression& e) {
  if (e.op == Op::loop) return e.name;
  if (e.op != Op::add && e.op != Op::sub && e.op != Op::mul) return std::nullopt;
  const Expression &a = *e.args[0], &b = *e.args[1];
  const auto positive = [](const Expression& c) {
    const auto* number = std::get_if<std::int64_t>(&c.value);
    return c.op == Op::constant && number && *number >= 1;
  };
  if (e.op == Op::mul) return positive(b) ? widening_loop(a) : positive(a) ? widening_loop(b) : std::nullopt;
  // x + r: a reduction only widens.
  const auto adds = [](const Expression& c) { return c.op == Op::constant || c.op == Op::reduction || c.op == Op::extent; };
  if (adds(b)) return widening_loop(a);
  return e.op == Op::add && adds(a) ? widening_loop(b) : std::nullopt;
}

// How one stage is read by another directly.
class DirectReads {
 public:
  DirectReads(const Stage& reader, const Stage& producer) : reader_(reader), producer_(producer) {
    found_.touched.resize(producer.loops.size());
    found_.along.resize(producer.loops.size());
    for (const ExpressionPtr& value : reader.values) read(*value);
    for (const Update& update : reader.updates) {
      found_.is_pointwise = found_.is_pointwise && !loads(update);
      for (const ExpressionPtr& index : update.indices) read(*index);
      for (const ExpressionPtr& value : update.values) read(*value);
      if (update.predicate) read(*update.predicate);
      for (const ReductionVariable& variable : update.reduction) {
        read(*variable.min);
        read(*variable.extent);
      }
    }
  }

  std::optional<Following> take() { return is_read_ ? std::optional(std::move(found_)) : std::nullopt; }

 private:
  bool loads(const Update& update) const {
    bool found = false;
    for (const ExpressionPtr& value : update.values)
      for_each_node(*value, [&](const Expression& node) { found = found || (node.op == Op::load && node.name == producer_.name); });
    return found;
  }

  void read(const Expression& e) {
    if (e.op == Op::let) {
      read(*e.args[0]);
      lets_[e.name] = loops_in(*e.args[0]);
      return read(*e.args[1]);
    }
    for (const ExpressionPtr& arg : e.args) read(*arg);
    if (e.op != Op::load || e.name != producer_.name) return;
    is_read_ = true;
    found_.is_pointwise = found_.is_pointwise && is_pointwise_load(e, reader_);
    for (std::size_t d = 0; d < e.args.size(); ++d) {
      found_.touched[d] |= loops_in(*e.args[d]);
      if (found_.along[d]) continue;
      if (const auto loop = widening_loop(*e.args[d])) found_.along[d] = place(*loop);
    }
  }

  std::optional<std::size_t> place(const std::string& loop) const {
    const auto at = std::find(reader_.loops.begin(), reader_.loops.end(), loop);
    return at == reader_.loops.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - reader_.loops.begin()));
  }

  // What is looked up in another stage is anywhere in its range, whatever loops led there.
  std::uint64_t loops_in(const Expression& e) const {
    if (e.op == Op::load) return 0;
    if (e.op == Op::loop) {
      const auto at = place(e.name);
      return at ? std::uint64_t{1} << (*at % 64) : 0;
    }
    if (e.op == Op::variable) {
      const auto let = lets_.find(e.name);
      return let == lets_.end() ? 0 : let->second;
    }
    std::uint64_t found = 0;
    for (const ExpressionPtr& arg : e.args) found |= loops_in(*arg);
    return found;
  }

  const Stage& reader_;
  const Stage& producer_;
  Following found_;
  bool is_read_ = false;
  std::map<std::string, std::uint64_t> lets_;
};

// The dimensions along which an update stores elsewhere than at its loop, a scan or a scatter: they are needed whole, whoever reads how little.
std::vector<bool> scattered_dimensions(const Stage& stage) {
  std::vector<bool> scattered(stage.loops.size(), false);
  for (const Update& update : stage.updates) {
    for (std::size_t d = 0; d < stage.loops.size(); ++d) {
      if (update.indices[d]->op != Op::loop || update.indices[d]->name != stage.loops[d]) scattered[d] = true;
    }
  }
  return scattered;
}

void forget(Following& total, const std::vector<bool>& dimensions) {
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (!dimensions[d]) continue;
    total.touched[d] = 0;
    total.along[d].reset();
    total.is_pointwise = false;
  }
}

// `near`: how the reader follows the host; `step`: how the stage follows the reader.
void add_path(Following& total, const Following& step, const Following& near) {
  total.is_pointwise = total.is_pointwise && step.is_pointwise && near.is_pointwise;
  for (std::size_t d = 0; d < step.touched.size(); ++d) {
    for (std::size_t r = 0; r < near.touched.size(); ++r)
      if ((step.touched[d] >> r & 1u) != 0) total.touched[d] |= near.touched[r];
    if (!total.along[d] && step.along[d] && *step.along[d] < near.along.size()) total.along[d] = near.along[*step.along[d]];
  }
}

}  // namespace

std::vector<std::vector<std::optional<std::int64_t>>> stage_extents(const Algorithm& algorithm, const Problem& problem) {
  return Regions(algorithm, problem).extents();
}

std::uint64_t Following::all_touched() const {
  std::uint64_t all = 0;
  for (const std::uint64_t loops : touched) all |= loops;
  return all;
}

std::map<std::pair<std::size_t, std::size_t>, Following> followings(const Algorithm& algorithm) {
  std::map<std::pair<std::size_t, std::size_t>, Following> all;
  const std::size_t count = algorithm.stages.size();
  for (std::size_t s = count; s-- > 0;) {
    const Stage& stage = algorithm.stages[s];
    for (std::size_t r = s + 1; r < count; ++r) {
      const auto step = DirectReads(algorithm.stages[r], stage).take();
      if (!step) continue;
      for (std::size_t h = r; h < count; ++h) {
        Following itself;
        for (std::size_t d = 0; d < algorithm.stages[r].loops.size(); ++d) {
          itself.touched.push_back(std::uint64_t{1} << (d % 64));
          itself.along.emplace_back(d);
        }
        const auto known = all.find({r, h});
        if (h != r && known == all.end()) continue;
        Following& total = all.try_emplace({s, h}, Following{std::vector<std::uint64_t>(stage.loops.size()),
                                                             std::vector<std::optional<std::size_t>>(stage.loops.size()), true}).first->second;
        add_path(total, *step, h == r ? itself : known->second);
        forget(total, scattered_dimensions(stage));
      }
    }
  }
  return all;
}

}  // namespace kiln::schedules
