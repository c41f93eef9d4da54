// Knobs and points: a point chooses one value for every knob of a space. Some knobs are of use only under a value of another, and some values
// follow from knobs and are chosen by nobody.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kiln::schedules {

using KnobValue = std::variant<std::int64_t, std::string>;
std::string print(const KnobValue& value);

class Point;

// A knob under a condition is of use only while another knob has one of these values (by their places); else it keeps its first value.
struct Condition {
  std::size_t knob = 0;
  std::vector<std::uint16_t> values;
  bool operator==(const Condition&) const = default;
};

// What a space keeps of a knob. All values are numbers, or all are words; each differs from the others.
struct KnobDeclaration {
  std::string name;
  std::vector<KnobValue> values;
  std::optional<Condition> only_when;
  // A derived value: what it is computed from (by place, all declared before it) and how. No one chooses it and no text shows it.
  std::vector<std::size_t> reads;
  std::function<std::int64_t(const Point&)> follows;

  bool is_derived() const { return follows != nullptr; }
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

  void set(std::size_t knob, std::uint16_t value) { choice_[knob] = value; }

  // Whether the knob is of use at this point.
  bool is_active(std::size_t knob) const;

  const std::vector<KnobDeclaration>& knobs() const { return *knobs_; }
  const Choice& choice() const { return choice_; }
  bool operator==(const Point& other) const { return choice_ == other.choice_; }
  auto operator<=>(const Point& other) const { return choice_ <=> other.choice_; }

 private:
  std::shared_ptr<const std::vector<KnobDeclaration>> knobs_;
  Choice choice_;
};

// `tile_m=64 order=nm`, every knob that is of use in declared order. Space::parse reads it back.
std::string print(const Point& point);

// lo, lo + step, …, at most hi.
std::vector<std::int64_t> range(std::int64_t lo, std::int64_t hi, std::int64_t step = 1);

}  // namespace kiln::schedules
