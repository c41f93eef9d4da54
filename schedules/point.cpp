#include "schedules/point.h"

#include <algorithm>

namespace kiln::schedules {

std::string print(const KnobValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

bool Point::is_active(std::size_t knob) const {
  const std::optional<Condition>& condition = (*knobs_)[knob].only_when;
  return !condition || std::count(condition->values.begin(), condition->values.end(), choice_[condition->knob]) > 0;
}

std::string print(const Point& point) {
  std::string text;
  for (std::size_t k = 0; k < point.knobs().size(); ++k) {
    if (point.knobs()[k].is_derived() || !point.is_active(k)) continue;
    if (!text.empty()) text += ' ';
    text += point.knobs()[k].name + '=' + print(point.value(k));
  }
  return text;
}

std::vector<std::int64_t> range(std::int64_t lo, std::int64_t hi, std::int64_t step) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = lo; value <= hi; value += step) values.push_back(value);
  return values;
}

}  // namespace kiln::schedules
