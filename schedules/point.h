// Knobs and points: a point chooses one value for every knob of a space.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kiln::schedules {

using KnobValue = std::variant<std::int64_t, std::string>;
std::string print(const KnobValue& value);

// What a space keeps of a knob. All values are numbers, or all are words; each differs from the others.
struct KnobDeclaration {
  std::string name;
  std::vector<KnobValue> values;
};

// Names a knob of one space. Cheap to copy into the functions that read it.
struct Knob {
  std::size_t index = 0;
};
struct WordKnob {
  std::size_t index = 0;
};

// Made by a Space only. Two points are equal when they choose the same values of the same knobs by position; compare points of one space.
class Point {
 public:
  using Choice = std::vector<std::uint16_t>;  // one index a knob, into its values
  Point(std::shared_ptr<const std::vector<KnobDeclaration>> knobs, Choice choice) : knobs_(std::move(knobs)), choice_(std::move(choice)) {}

  std::int64_t operator[](Knob knob) const { return std::get<std::int64_t>(value(knob.index)); }
  const std::string& operator[](WordKnob knob) const { return std::get<std::string>(value(knob.index)); }
  const KnobValue& value(std::size_t knob) const { return (*knobs_)[knob].values[choice_[knob]]; }

  const std::vector<KnobDeclaration>& knobs() const { return *knobs_; }
  const Choice& choice() const { return choice_; }
  bool operator==(const Point& other) const { return choice_ == other.choice_; }
  auto operator<=>(const Point& other) const { return choice_ <=> other.choice_; }

 private:
  std::shared_ptr<const std::vector<KnobDeclaration>> knobs_;
  Choice choice_;
};

// `tile_m=64 order=nm`, every knob in declared order. Space::parse reads it back.
std::string print(const Point& point);

// lo, lo + step, …, at most hi.
std::vector<std::int64_t> range(std::int64_t lo, std::int64_t hi, std::int64_t step = 1);

}  // namespace kiln::schedules
