// A schedule as data: directives in order. Prints as text that reads like Halide, parses back, has a digest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dsl/digest.h"

namespace kiln {

// A number, or a word: a loop, a stage reference, a tail strategy, `key=value`, a condition.
using DirectiveArgument = std::variant<std::int64_t, std::string>;

// One step. `stage` is a reference as written: `c`, `blur#2`, `B.in()` (the wrapper of an input or a stage), `f.in(g)` (only for consumer g).
struct Directive {
  std::string stage;  // empty for own_schedule() and autoschedule(…)
  int update = -1;    // -1: the pure definition
  std::string name;   // a name of dsl/directive's table
  std::vector<DirectiveArgument> arguments;
  std::string condition = {};  // of the specialization that it is said of, as `specialize` has it; empty: of the definition itself
  bool operator==(const Directive&) const = default;
};

struct Schedule {
  std::vector<Directive> directives;
  bool operator==(const Schedule&) const = default;

  bool is_opaque() const;  // own_schedule() or autoschedule(…) alone
};

// One chain a line: consecutive directives of one stage and definition. What a specialization's loops do follows `specialize(…)` in its chain, and
// a later line that begins so again goes on with it: a schedule has `specialize` of one definition and condition once. print(parse(print(s))) == print(s).
std::string print(const Schedule& schedule);
std::string print(const Directive& directive);  // one step with its stage: `c.update(0).split(k, ko, ki, 256)`

// Throws ScheduleError: `line 4, column 12: …`, what was expected and what exists. Knows directive names and argument kinds, not stages.
// `#` starts a comment unless it follows a name directly and is followed by digits (`blur#2`).
Schedule parse_schedule(std::string_view text);

Digest digest(const Schedule& schedule);  // over the directives only

// A builder for spaces and tests: Chain("c").update(0).add("split", "k", "ko", "ki", 256)
class Chain {
 public:
  Chain(Schedule& schedule, std::string stage, int update = -1) : schedule_(schedule), stage_(std::move(stage)), update_(update) {}
  template <typename... Arguments>
  Chain& add(std::string name, const Arguments&... arguments) {
    return append(std::move(name), {argument(arguments)...});
  }
  Chain& add(std::string name, const std::vector<std::string>& words) { return append(std::move(name), {words.begin(), words.end()}); }

 private:
  Chain& append(std::string name, std::vector<DirectiveArgument> arguments) {
    schedule_.directives.push_back({stage_, update_, std::move(name), std::move(arguments)});
    return *this;
  }
  static DirectiveArgument argument(const char* word) { return std::string(word); }
  static DirectiveArgument argument(const std::string& word) { return word; }
  template <typename Integer>
  static DirectiveArgument argument(Integer number) { return static_cast<std::int64_t>(number); }
  Schedule& schedule_;
  std::string stage_;
  int update_;
};

}  // namespace kiln
