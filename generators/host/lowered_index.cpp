// The arithmetic of Place: sums and constant factors are exact, the rest holds around the middle iteration.
#include "generators/host/lowered_index.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace kiln::generators::host {
namespace {

namespace ir = Halide::Internal;
using MaybePlace = std::optional<Place>;

Place constant(std::int64_t value) { return {.base = value, .spans = {}}; }

// Spans of one loop add up; spans of lanes add up pairwise when they are the same lanes (equal counts in order), else they cannot be told apart.
MaybePlace add(const Place& a, const Place& b, std::int64_t sign) {
  Place sum = a;
  sum.base += sign * b.base;
  std::size_t lane = 0;
  for (const Span& span : b.spans) {
    if (span.loop == Span::kLane) {
      while (lane < a.spans.size() && a.spans[lane].loop != Span::kLane) ++lane;
      if (lane == a.spans.size()) {
        sum.spans.push_back({Span::kLane, sign * span.step, span.count});
      } else {
        if (sum.spans[lane].count != span.count) return std::nullopt;
        sum.spans[lane++].step += sign * span.step;
      }
      continue;
    }
    const auto same = std::find_if(sum.spans.begin(), sum.spans.end(), [&](const Span& s) { return s.loop == span.loop; });
    if (same == sum.spans.end())
      sum.spans.push_back({span.loop, sign * span.step, span.count});
    else
      *same = {span.loop, same->step + sign * span.step, std::max(same->count, span.count)};
  }
  std::erase_if(sum.spans, [](const Span& span) { return span.loop != Span::kLane && span.step == 0; });
  return sum;
}

Place scaled(Place place, std::int64_t factor) {
  place.base *= factor;
  for (Span& span : place.spans) span.step *= factor;
  return place;
}

// Of two that vary, the plane that touches the product at the middle iteration.
MaybePlace multiply(const Place& a, const Place& b) {
  MaybePlace product = add(scaled(a, b.base), scaled(b, a.base), 1);
  if (product) product->base = a.base * b.base;
  return product;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {  // Halide's: x / 0 is 0, and it rounds so that the remainder is not negative
  if (b == 0) return 0;
  const std::int64_t remainder = ((a % b) + std::abs(b)) % std::abs(b);
  return (a - remainder) / b;
}
std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : ((a % b) + std::abs(b)) % std::abs(b); }

MaybePlace divide(const Place& a, const Place& b) {
  if (!b.spans.empty() || b.base <= 0) return a.spans.empty() && b.spans.empty() ? MaybePlace(constant(floor_div(a.base, b.base))) : std::nullopt;
  Place quotient{.base = floor_div(a.base, b.base), .spans = {}};
  for (Span span : a.spans) {
    const std::int64_t reach = std::abs(span.step) * (span.count - 1);
    if (std::abs(span.step) >= b.base || span.step == 0) {
      span.step /= b.base;
    } else {
      span.count = reach / b.base + 1;
      span.step = span.step < 0 ? -1 : 1;
    }
    quotient.spans.push_back(span);
  }
  return quotient;
}

MaybePlace modulo(const Place& a, const Place& b) {
  if (!b.spans.empty()) return std::nullopt;
  const std::int64_t divisor = std::abs(b.base);
  Place remainder{.base = floor_mod(a.base, b.base), .spans = {}};
  if (divisor == 0) return remainder;
  int moving = 0;
  for (Span span : a.spans) {
    span.step %= divisor;
    if (span.step == 0) {
      if (span.loop == Span::kLane) remainder.spans.push_back(span);
      continue;
    }
    ++moving;
    span.count = std::min(span.count, (divisor + std::abs(span.step) - 1) / std::abs(span.step));
    remainder.spans.push_back(span);
  }
  if (moving > 1) return std::nullopt;
  if (moving == 1) remainder.base = 0;  // a walk that wraps covers the range from its start
  return remainder;
}

template <typename Node>
const Node* as(const Halide::Expr& e) { return e.as<Node>(); }

std::optional<std::int64_t> compare(const Halide::Expr& e, IndexReader& reader) {
  const auto both = [&](const Halide::Expr& a, const Halide::Expr& b, auto holds) -> std::optional<std::int64_t> {
    const auto x = reader.value(a), y = reader.value(b);
    if (!x || !y) return std::nullopt;
    return holds(*x, *y) ? 1 : 0;
  };
  switch (e.node_type()) {
    case ir::IRNodeType::EQ: return both(as<ir::EQ>(e)->a, as<ir::EQ>(e)->b, [](auto x, auto y) { return x == y; });
    case ir::IRNodeType::NE: return both(as<ir::NE>(e)->a, as<ir::NE>(e)->b, [](auto x, auto y) { return x != y; });
    case ir::IRNodeType::LT: return both(as<ir::LT>(e)->a, as<ir::LT>(e)->b, [](auto x, auto y) { return x < y; });
    case ir::IRNodeType::LE: return both(as<ir::LE>(e)->a, as<ir::LE>(e)->b, [](auto x, auto y) { return x <= y; });
    case ir::IRNodeType::GT: return both(as<ir::GT>(e)->a, as<ir::GT>(e)->b, [](auto x, auto y) { return x > y; });
    case ir::IRNodeType::GE: return both(as<ir::GE>(e)->a, as<ir::GE>(e)->b, [](auto x, auto y) { return x >= y; });
    default: return std::nullopt;
  }
}

// One known side may decide: false && anything, true || anything.
std::optional<std::int64_t> logic(const Halide::Expr& e, IndexReader& reader) {
  if (const auto* negated = as<ir::Not>(e)) {
    const auto inner = reader.value(negated->a);
    return inner ? std::optional<std::int64_t>(*inner == 0) : std::nullopt;
  }
  const bool is_and = e.node_type() == ir::IRNodeType::And;
  const auto x = reader.value(is_and ? as<ir::And>(e)->a : as<ir::Or>(e)->a), y = reader.value(is_and ? as<ir::And>(e)->b : as<ir::Or>(e)->b);
  const std::int64_t deciding = is_and ? 0 : 1;
  if ((x && (*x != 0) == (deciding != 0)) || (y && (*y != 0) == (deciding != 0))) return deciding;
  if (!x || !y) return std::nullopt;
  return 1 - deciding;
}

}  // namespace

IndexReader::IndexReader(std::map<std::string, BufferFacts> buffers, std::map<std::string, std::int64_t> scalars) : buffers_(std::move(buffers)) {
  for (const auto& [name, value] : scalars) bind(name, constant(value));
}

void IndexReader::bind(const std::string& name, std::optional<Place> meaning) { bound_[name].push_back(std::move(meaning)); }
void IndexReader::unbind(const std::string& name) { bound_[name].pop_back(); }

std::optional<std::int64_t> IndexReader::value(const Halide::Expr& expression) {
  const MaybePlace place = read(expression);
  return place ? std::optional<std::int64_t>(place->base) : std::nullopt;
}

MaybePlace IndexReader::choose(const Halide::Expr& condition, const Halide::Expr& if_true, const Halide::Expr& if_false) {
  const auto holds = value(condition);
  if (!holds) return std::nullopt;
  return read(*holds != 0 ? if_true : if_false);
}

MaybePlace IndexReader::read_ramp(const ir::Ramp& ramp) {
  const MaybePlace base = read(ramp.base), step = read(ramp.stride);
  if (!base || !step) return std::nullopt;
  Place out = *base;
  out.spans.push_back({Span::kLane, step->base, ramp.lanes});
  return out;
}

MaybePlace IndexReader::read_call(const ir::Call& call) {
  const std::string_view name = call.name;
  if (name == "_halide_buffer_is_bounds_query") return constant(0);  // the call that computes is what is looked at
  const auto property = [&](auto of) -> MaybePlace {
    const auto* buffer = call.args[0].as<ir::Variable>();
    const auto dimension = call.args.size() > 1 ? value(call.args[1]) : std::nullopt;
    if (buffer == nullptr || !dimension) return std::nullopt;
    const auto facts = buffers_.find(buffer->name);
    if (facts == buffers_.end() || *dimension < 0 || *dimension >= static_cast<std::int64_t>(facts->second.extents.size())) return std::nullopt;
    return constant(of(facts->second, static_cast<std::size_t>(*dimension)));
  };
  if (name == "_halide_buffer_get_extent") return property([](const BufferFacts& f, std::size_t d) { return f.extents[d]; });
  if (name == "_halide_buffer_get_stride") return property([](const BufferFacts& f, std::size_t d) { return f.strides[d]; });
  if (name == "_halide_buffer_get_min") return property([](const BufferFacts&, std::size_t) { return std::int64_t{0}; });
  if (call.is_intrinsic({ir::Call::likely, ir::Call::likely_if_innermost, ir::Call::promise_clamped, ir::Call::unsafe_promise_clamped}))
    return read(call.args[0]);
  if (call.is_intrinsic(ir::Call::if_then_else) && call.args.size() == 3) return choose(call.args[0], call.args[1], call.args[2]);
  if (call.is_intrinsic({ir::Call::shift_left, ir::Call::shift_right})) {
    const MaybePlace x = read(call.args[0]);
    const auto bits = value(call.args[1]);
    if (!x || !bits || *bits < 0 || *bits > 31) return std::nullopt;
    const Place power = constant(std::int64_t{1} << *bits);
    return call.is_intrinsic(ir::Call::shift_left) ? multiply(*x, power) : divide(*x, power);
  }
  return std::nullopt;
}

MaybePlace IndexReader::read(const Halide::Expr& e) {
  const auto binary = [&](const auto* node, auto combine) -> MaybePlace {
    const MaybePlace a = read(node->a), b = read(node->b);
    return a && b ? combine(*a, *b) : std::nullopt;
  };
  switch (e.node_type()) {
    case ir::IRNodeType::IntImm: return constant(as<ir::IntImm>(e)->value);
    case ir::IRNodeType::UIntImm: return constant(static_cast<std::int64_t>(as<ir::UIntImm>(e)->value));
    case ir::IRNodeType::Cast: return e.type().is_int_or_uint() && as<ir::Cast>(e)->value.type().is_int_or_uint() ? read(as<ir::Cast>(e)->value) : std::nullopt;
    case ir::IRNodeType::Variable: {
      const auto found = bound_.find(as<ir::Variable>(e)->name);
      return found == bound_.end() || found->second.empty() ? std::nullopt : found->second.back();
    }
    case ir::IRNodeType::Let: {
      const auto* let = as<ir::Let>(e);
      bind(let->name, read(let->value));
      MaybePlace body = read(let->body);
      unbind(let->name);
      return body;
    }
    case ir::IRNodeType::Add: return binary(as<ir::Add>(e), [](const Place& a, const Place& b) { return add(a, b, 1); });
    case ir::IRNodeType::Sub: return binary(as<ir::Sub>(e), [](const Place& a, const Place& b) { return add(a, b, -1); });
    case ir::IRNodeType::Mul: return binary(as<ir::Mul>(e), multiply);
    case ir::IRNodeType::Div: return binary(as<ir::Div>(e), divide);
    case ir::IRNodeType::Mod: return binary(as<ir::Mod>(e), modulo);
    case ir::IRNodeType::Min: return binary(as<ir::Min>(e), [](const Place& a, const Place& b) -> MaybePlace { return a.base <= b.base ? a : b; });
    case ir::IRNodeType::Max: return binary(as<ir::Max>(e), [](const Place& a, const Place& b) -> MaybePlace { return a.base >= b.base ? a : b; });
    case ir::IRNodeType::Select: return choose(as<ir::Select>(e)->condition, as<ir::Select>(e)->true_value, as<ir::Select>(e)->false_value);
    case ir::IRNodeType::Ramp: return read_ramp(*as<ir::Ramp>(e));
    case ir::IRNodeType::Broadcast: {
      MaybePlace inner = read(as<ir::Broadcast>(e)->value);
      if (inner) inner->spans.push_back({Span::kLane, 0, as<ir::Broadcast>(e)->lanes});
      return inner;
    }
    case ir::IRNodeType::Call: return read_call(*as<ir::Call>(e));
    case ir::IRNodeType::And:
    case ir::IRNodeType::Or:
    case ir::IRNodeType::Not: {
      const auto known = logic(e, *this);
      return known ? MaybePlace(constant(*known)) : std::nullopt;
    }
    default: {
      const auto known = compare(e, *this);
      return known ? MaybePlace(constant(*known)) : std::nullopt;
    }
  }
}

}  // namespace kiln::generators::host
