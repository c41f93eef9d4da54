#include "schedules/space.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "dsl/error.h"
#include "schedules/census.h"

namespace kiln::schedules {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '+' || c == '#';
  });
}

std::string listed(const std::vector<KnobValue>& values) {
  std::string text;
  for (const KnobValue& value : values) text += (text.empty() ? "" : ", ") + print(value);
  return text;
}

std::optional<std::uint16_t> find_value(const KnobDeclaration& knob, const std::string& text) {
  for (std::size_t v = 0; v < knob.values.size(); ++v) {
    if (print(knob.values[v]) == text) return static_cast<std::uint16_t>(v);
  }
  return std::nullopt;
}

// The value of a number knob that is nearest to `wish`; of two equally near ones the smaller.
std::uint16_t nearest_value(const KnobDeclaration& knob, std::int64_t wish) {
  const auto key = [&](std::size_t v) {
    const std::int64_t value = std::get<std::int64_t>(knob.values[v]);
    return std::pair(std::abs(value - wish), value);
  };
  std::size_t best = 0;
  for (std::size_t v = 1; v < knob.values.size(); ++v) {
    if (key(v) < key(best)) best = v;
  }
  return static_cast<std::uint16_t>(best);
}

std::string names(const std::vector<KnobDeclaration>& knobs) {
  std::string text;
  for (const KnobDeclaration& knob : knobs) {
    if (!knob.is_derived()) text += (text.empty() ? "" : ", ") + knob.name;
  }
  return text;
}

}  // namespace

Space::Space(std::string name) : name_(std::move(name)), knobs_(std::make_shared<std::vector<KnobDeclaration>>()) {}

Knob Space::knob(const std::string& name, const std::vector<std::int64_t>& values) {
  return {declare({name, std::vector<KnobValue>(values.begin(), values.end()), condition_, {}, {}})};
}

Knob Space::derive(const std::string& name, const std::vector<std::int64_t>& values, const std::vector<std::size_t>& reads,
                   std::function<std::int64_t(const Point&)> follows) {
  KILN_CHECK(!condition_, "space " + name_ + ": the derived value " + name + " is declared under a condition");
  for (const std::size_t k : reads)
    KILN_CHECK(k < knobs_->size() && !(*knobs_)[k].only_when, "space " + name_ + ": " + name + " reads what is not declared before it, or not always of use");
  return {declare({name, std::vector<KnobValue>(values.begin(), values.end()), std::nullopt, reads, std::move(follows)})};
}

void Space::begin_condition(WordKnob condition, const std::vector<std::string>& words) {
  const KnobDeclaration& knob = (*knobs_)[condition.index];
  KILN_CHECK(!condition_ && !knob.only_when, "space " + name_ + ": a condition within another");
  condition_ = Condition{condition.index, {}};
  for (const std::string& word : words) {
    const auto value = find_value(knob, word);
    if (!value) throw UsageError("space `" + name_ + "`: a condition asks for `" + knob.name + "=" + word + "`; values are " + listed(knob.values));
    condition_->values.push_back(*value);
  }
}

WordKnob Space::words(const std::string& name, const std::vector<std::string>& values) {
  for (const std::string& word : values) {
    if (!is_word(word)) throw UsageError("space `" + name_ + "`: knob `" + name + "` has the word `" + word + "`; a word is letters, digits and _ - + . #");
  }
  return {declare({name, std::vector<KnobValue>(values.begin(), values.end()), condition_, {}, {}})};
}

std::size_t Space::declare(KnobDeclaration declaration) {
  const std::string& name = declaration.name;
  const std::vector<KnobValue>& values = declaration.values;
  const std::string where = "space `" + name_ + "`: knob `" + name + "`";
  if (!is_word(name)) throw UsageError(where + " has a name that its text form cannot carry; a name is letters, digits and _ - + . #");
  if (values.empty()) throw UsageError(where + " has no values; it needs at least one");
  if (values.size() > UINT16_MAX) throw UsageError(where + " has " + std::to_string(values.size()) + " values; the most is 65535");
  if (std::set<KnobValue>(values.begin(), values.end()).size() != values.size()) throw UsageError(where + " has a value twice: " + listed(values));
  for (const KnobDeclaration& other : *knobs_) {
    if (other.name == name) throw UsageError(where + " is declared twice");
  }
  KILN_CHECK(seeds_.empty() && !census_, where + " is declared after points were made");
  auto extended = std::make_shared<std::vector<KnobDeclaration>>(*knobs_);
  extended->push_back(std::move(declaration));
  knobs_ = std::move(extended);
  return knobs_->size() - 1;
}

void Space::add(Constraint constraint) {
  KILN_CHECK(seeds_.empty(), "space " + name_ + ": a constraint is added after the first seed");
  for (const std::size_t k : constraint.knobs)
    KILN_CHECK((*knobs_)[k].only_when == (*knobs_)[constraint.knobs[0]].only_when,
               "space " + name_ + ": `" + constraint.reason + "` ties knobs under different conditions");
  constraints_.push_back(std::move(constraint));
  census_.reset();
}

bool Space::seed(const std::map<std::string, KnobValue>& wish, const std::string& origin) {
  Point::Choice choice(knobs_->size(), 0);
  for (const auto& [name, value] : wish) {
    const auto knob = std::find_if(knobs_->begin(), knobs_->end(), [&](const KnobDeclaration& k) { return k.name == name && !k.is_derived(); });
    if (knob == knobs_->end()) throw UsageError("space `" + name_ + "`: a seed sets knob `" + name + "`; there are " + names(*knobs_));
    std::optional<std::uint16_t> chosen = find_value(*knob, print(value));
    if (!chosen && std::holds_alternative<std::int64_t>(value) && std::holds_alternative<std::int64_t>(knob->values[0])) {
      chosen = nearest_value(*knob, std::get<std::int64_t>(value));
    }
    if (!chosen) throw UsageError("space `" + name_ + "`: a seed sets `" + name + "=" + print(value) + "`; values are " + listed(knob->values));
    choice[static_cast<std::size_t>(knob - knobs_->begin())] = *chosen;
  }
  const Point seeded = completed(point(std::move(choice)));
  const bool known = std::any_of(seeds_.begin(), seeds_.end(), [&](const Seed& seed) { return seed.point == seeded; });
  if (known || !is_valid(seeded)) return false;
  seeds_.push_back({seeded, origin});
  return true;
}

Schedule Space::schedule(const Point& point) const {
  KILN_CHECK(schedule_ != nullptr, "space " + name_ + " has no schedule_as");
  return schedule_(point);
}

const Census& Space::census() const {
  if (!census_) census_ = std::make_shared<const Census>(*this);
  return *census_;
}

std::optional<std::uint64_t> Space::count() const {
  const long double count = census().count();
  if (count >= 9223372036854775808.0L) return std::nullopt;
  return static_cast<std::uint64_t>(count);
}

double Space::approximate_count() const { return static_cast<double>(census().count()); }

std::vector<double> Space::drops() const { return {census().drops().begin(), census().drops().end()}; }

std::optional<std::string> Space::unsatisfiable() const { return census().unsatisfiable(); }

Point Space::sample(Random& random) const {
  KILN_CHECK(!unsatisfiable(), "a sample of an empty space: " + *unsatisfiable());
  return point(census().sample(random));
}

Point Space::sample_by_form(Random& random) const {
  KILN_CHECK(!unsatisfiable(), "a sample of an empty space: " + *unsatisfiable());
  return point(census().sample_by_form(random));
}

Point Space::unrank(std::uint64_t rank) const {
  KILN_CHECK(count() && rank < *count(), "space " + name_ + " has no point of rank " + std::to_string(rank));
  return point(census().unrank(rank));
}

std::uint64_t Space::rank(const Point& valid_point) const {
  KILN_CHECK(count().has_value(), "space " + name_ + " is too large for ranks");
  return census().rank(valid_point.choice());
}

Point Space::completed(Point point) const {
  for (std::size_t k = 0; k < knobs_->size(); ++k) {
    const KnobDeclaration& knob = (*knobs_)[k];
    if (knob.is_derived()) {
      const auto value = find_value(knob, std::to_string(knob.follows(point)));
      KILN_CHECK(value.has_value(), "space " + name_ + ": " + knob.name + " follows to a value that it does not have");
      point.set(k, *value);
    } else if (!point.is_active(k)) {
      point.set(k, 0);
    }
  }
  return point;
}

Point Space::with(const Point& base, const Point& other, const std::vector<std::size_t>& knobs) const {
  Point result = base;
  for (const std::size_t knob : knobs) result.set(knob, other.choice()[knob]);
  return completed(std::move(result));
}

std::vector<Point> Space::neighbours(const Point& from) const {
  std::vector<Point> result;
  for (std::size_t k = 0; k < knobs_->size(); ++k) {
    if ((*knobs_)[k].is_derived() || !from.is_active(k)) continue;
    for (std::uint16_t v = 0; v < (*knobs_)[k].values.size(); ++v) {
      if (v == from.choice()[k]) continue;
      Point near = from;
      near.set(k, v);
      near = completed(std::move(near));
      if (is_valid(near)) result.push_back(std::move(near));
    }
  }
  return result;
}

std::vector<Point> Space::steps(const Point& valid_point) const {
  std::vector<Point> result;
  for (Point::Choice& choice : census().steps(valid_point.choice())) {
    Point near = completed(point(std::move(choice)));
    if (!(near == valid_point)) result.push_back(std::move(near));
  }
  return result;
}

std::optional<std::string> Space::first_violated(const Point& point) const {
  for (std::size_t k = 0; k < knobs_->size(); ++k) {
    if (point.is_active(k) || point.choice()[k] == 0) continue;
    const KnobDeclaration& knob = (*knobs_)[k];
    return "knob `" + knob.name + "` is of no use while `" + (*knobs_)[knob.only_when->knob].name + "=" + print(point.value(knob.only_when->knob)) +
           "`, so it must be " + print(knob.values[0]);
  }
  for (const ConstraintKind kind : {ConstraintKind::requirement, ConstraintKind::limit}) {
    for (const Constraint& constraint : constraints_) {
      if (constraint.kind != kind || !point.is_active(constraint.knobs[0]) || constraint.holds(point)) continue;
      if (kind == ConstraintKind::requirement) return constraint.reason;
      return constraint.reason + ": " + std::to_string(constraint.asked(point)) + " asked, at most " + std::to_string(constraint.allowed);
    }
  }
  return std::nullopt;
}

Point Space::parse(std::string_view text) const {
  std::vector<std::optional<std::uint16_t>> chosen(knobs_->size());
  const std::string where = "point of space `" + name_ + "`: ";
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string item(text.substr(at, end - at));
    at = end;
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) throw UsageError(where + "`" + item + "` is no knob=value");
    const std::string name = item.substr(0, equals), value = item.substr(equals + 1);
    std::size_t k = 0;
    while (k < knobs_->size() && ((*knobs_)[k].name != name || (*knobs_)[k].is_derived())) ++k;
    if (k == knobs_->size()) throw UsageError(where + "no knob `" + name + "`; there are " + names(*knobs_));
    if (chosen[k]) throw UsageError(where + "knob `" + name + "` is set twice");
    chosen[k] = find_value((*knobs_)[k], value);
    if (!chosen[k]) throw UsageError(where + "knob `" + name + "` has no value `" + value + "`; values are " + listed((*knobs_)[k].values));
  }
  Point::Choice choice;
  for (const auto& value : chosen) choice.push_back(value.value_or(0));
  Point parsed = point(std::move(choice));
  for (std::size_t k = 0; k < knobs_->size(); ++k) {
    const KnobDeclaration& knob = (*knobs_)[k];
    if (chosen[k] || knob.is_derived() || !parsed.is_active(k)) continue;
    throw UsageError(where + "knob `" + knob.name + "` is not set; values are " + listed(knob.values));
  }
  for (std::size_t k = 0; k < knobs_->size(); ++k) {
    const KnobDeclaration& knob = (*knobs_)[k];
    if (knob.is_derived()) parsed.set(k, find_value(knob, std::to_string(knob.follows(parsed))).value_or(0));
  }
  return parsed;
}

// What a function of the knobs says on every combination of their values, or on 65,536 fixed draws of them.
template <typename Answer>
std::string Space::answers(const std::vector<std::size_t>& knobs, const Answer& answer) const {
  constexpr std::uint64_t kMostAnswers = 65'536;
  std::uint64_t combinations = 1;
  for (const std::size_t k : knobs) combinations = std::min(kMostAnswers + 1, combinations * (*knobs_)[k].values.size());
  Random random(0);
  std::string text;
  for (std::uint64_t i = 0; i < std::min(combinations, kMostAnswers); ++i) {
    Point::Choice choice(knobs_->size(), 0);
    std::uint64_t left = i;
    for (const std::size_t k : knobs) {
      const std::uint64_t values = (*knobs_)[k].values.size();
      choice[k] = static_cast<std::uint16_t>(combinations > kMostAnswers ? random.below(values) : left % values);
      left /= values;
    }
    text += answer(point(std::move(choice)));
  }
  return text + "\n";
}

Digest Space::digest() const {
  std::string text = "space " + name_ + "\n";
  for (const KnobDeclaration& knob : *knobs_) {
    text += "knob " + knob.name + " " + listed(knob.values);
    if (knob.only_when) {
      text += " when " + (*knobs_)[knob.only_when->knob].name;
      for (const std::uint16_t value : knob.only_when->values) text += " " + std::to_string(value);
    }
    text += "\n";
    if (knob.is_derived()) text += answers(knob.reads, [&](const Point& p) { return std::to_string(knob.follows(p)) + " "; });
  }
  for (const Constraint& constraint : constraints_) {
    text += (constraint.kind == ConstraintKind::limit ? "limit " : "require ") + constraint.reason + "\n";
    text += answers(constraint.knobs, [&](const Point& p) { return constraint.holds(p) ? "1" : "0"; });
  }
  return kiln::digest("space", text);
}

}  // namespace kiln::schedules
