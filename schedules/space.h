// A search space as data: knobs with values, constraints each with its reason, and the schedule as a function of the point.
// Constraints are checked while descending through the knobs, so a space of 10^12 points is counted, sampled and walked without a list of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/digest.h"
#include "dsl/schedule.h"
#include "schedules/point.h"
#include "schedules/random.h"

namespace kiln::schedules {

class Census;

// Which kind of promise a constraint keeps. Limits are asked after all requirements that are due at the same knob, so that a point is counted
// against a resource only when its structure was sound.
enum class ConstraintKind : std::uint8_t { requirement, limit };

struct Constraint {
  std::string reason;
  ConstraintKind kind = ConstraintKind::requirement;
  std::vector<std::size_t> knobs;                        // by declaration index
  std::function<bool(const Point&)> holds;               // reads these knobs only
  std::function<std::int64_t(const Point&)> asked;       // limits: what the point needs
  std::int64_t allowed = 0;                              // limits: at most this
};

struct Seed {
  Point point;
  std::string origin;  // where it came from, in words: "hand schedule for 1024^3"
};

class Space {
 public:
  explicit Space(std::string name);

  // Declares a knob. Throws UsageError for a name taken, no values, equal values, or a name or word that its text form could not carry.
  // All knobs are declared before the first seed and before the first question about points.
  Knob knob(const std::string& name, const std::vector<std::int64_t>& values);
  WordKnob words(const std::string& name, const std::vector<std::string>& values);

  // What `declare` declares is of use only while `condition` has one of these words. Constraints over such knobs are asked only then, and tie
  // them to knobs under the same condition alone: so each condition's knobs are counted once, however many other points share them.
  template <typename Declare>
  void only_when(WordKnob condition, const std::vector<std::string>& words, const Declare& declare) {
    begin_condition(condition, words);
    declare();
    condition_.reset();
  }

  // Declares a value that follows from knobs and derived values declared before it, for constraints to read: what they need to know of many
  // knobs in few values. `values` holds all that `follows` may return; it is given a point whose `reads` are bound.
  Knob derive(const std::string& name, const std::vector<std::int64_t>& values, const std::vector<std::size_t>& reads,
              std::function<std::int64_t(const Point&)> follows);

  // `predicate(values of the named knobs…)` must hold. It is given these values and nothing else, so it is asked as soon as they are bound.
  template <typename Predicate, typename... Knobs>
  void require(std::string reason, Predicate predicate, Knobs... knobs) {
    add({std::move(reason), ConstraintKind::requirement, {knobs.index...}, [=](const Point& p) { return predicate(p[knobs]...); }, {}, 0});
  }

  // The same over any number of knobs and derived values, by their places; the predicate must read no others.
  void require_over(std::string reason, const std::vector<std::size_t>& knobs, std::function<bool(const Point&)> predicate) {
    add({std::move(reason), ConstraintKind::requirement, knobs, std::move(predicate), {}, 0});
  }

  // A resource: `asked(values of the named knobs…)` must be at most `allowed`. Both numbers appear in the reason that a user reads.
  template <typename Asked, typename... Knobs>
  void limit(std::string reason, std::int64_t allowed, Asked asked, Knobs... knobs) {
    add({std::move(reason), ConstraintKind::limit, {knobs.index...}, [=](const Point& p) { return asked(p[knobs]...) <= allowed; },
         [=](const Point& p) { return static_cast<std::int64_t>(asked(p[knobs]...)); }, allowed});
  }

  void schedule_as(std::function<Schedule(const Point&)> schedule) { schedule_ = std::move(schedule); }

  // Adds a point to start from. Knobs left out take their first value; a number that is no value of its knob becomes the nearest one (the
  // smaller of two). Returns false and adds nothing when the point then breaks a constraint or is a seed already. Unknown knobs and words throw UsageError.
  bool seed(const std::map<std::string, KnobValue>& wish, const std::string& origin);

  const std::string& name() const { return name_; }
  const std::vector<KnobDeclaration>& knobs() const { return *knobs_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const std::vector<Seed>& seeds() const { return seeds_; }
  Schedule schedule(const Point& point) const;

  // Exact while it is below 2^63, nothing above; approximate_count then says how large the space is.
  std::optional<std::uint64_t> count() const;
  double approximate_count() const;

  // Of the product of all values, how many points each constraint removed, in order of `constraints()`. A point that breaks several counts for
  // the one asked first while descending. Together with the count they are the product. Knobs under a condition are left out of it; a constraint
  // over them counts within the product of theirs.
  std::vector<double> drops() const;

  // Nothing when there are points; else which knob ran out of values and the constraint that removed the last one.
  std::optional<std::string> unsatisfiable() const;

  // Uniform over the valid points. The space must be satisfiable.
  Point sample(Random& random) const;

  // Uniform over the choices that are always of use, then over the knobs that these put to use. Where some choices have many knobs of their own and
  // others none, a uniform draw would hardly ever meet the others.
  Point sample_by_form(Random& random) const;

  // The points in a fixed order: unrank(0) … unrank(*count() - 1). Only while count() has a value.
  Point unrank(std::uint64_t rank) const;
  std::uint64_t rank(const Point& valid_point) const;

  // The valid points that differ from `point` in exactly one choice, knob by knob; values that follow, and knobs that it puts out of use, go with
  // it. `point` itself need not be valid.
  std::vector<Point> neighbours(const Point& point) const;

  // For every knob in use at the valid point, and each other value of it: the nearest valid point with that value. Where the value alone breaks a
  // constraint, as few other knobs as possible are changed with it; the first that do in declared order.
  std::vector<Point> steps(const Point& valid_point) const;

  // `base` with the choices that `other` makes for these knobs; values that follow, and knobs out of use, go with them. Need not be valid.
  Point with(const Point& base, const Point& other, const std::vector<std::size_t>& knobs) const;

  bool is_valid(const Point& point) const { return !first_violated(point); }
  // The reason of the first constraint the point breaks, in the order they are asked; limits add both numbers.
  std::optional<std::string> first_violated(const Point& point) const;

  // Reads what print(Point) wrote. Throws UsageError naming the knob, what was asked and the values there are. Does not ask constraints.
  Point parse(std::string_view text) const;

  // Of the knobs, their values, what follows from them, and what every constraint says about them: two spaces with one digest have the same points.
  // A constraint over more than 65,536 combinations enters by its answers on 65,536 fixed draws.
  Digest digest() const;

 private:
  friend class Census;
  void add(Constraint constraint);
  std::size_t declare(KnobDeclaration declaration);
  void begin_condition(WordKnob condition, const std::vector<std::string>& words);
  // Sets what follows, and knobs out of use to their first value.
  Point completed(Point point) const;
  template <typename Answer>
  std::string answers(const std::vector<std::size_t>& knobs, const Answer& answer) const;
  const Census& census() const;
  Point point(Point::Choice choice) const { return Point(knobs_, std::move(choice)); }

  std::string name_;
  std::shared_ptr<const std::vector<KnobDeclaration>> knobs_;
  std::optional<Condition> condition_;  // of the knobs being declared
  std::vector<Constraint> constraints_;
  std::vector<Seed> seeds_;
  std::function<Schedule(const Point&)> schedule_;
  mutable std::shared_ptr<const Census> census_;  // made when first asked for; a Space is used by one thread at a time
};

}  // namespace kiln::schedules
