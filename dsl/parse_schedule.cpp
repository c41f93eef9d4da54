// Text to Schedule: one directive chain a line, with the position of whatever cannot be read.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/condition.h"
#include "dsl/directive.h"
#include "dsl/error.h"
#include "dsl/schedule.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

[[noreturn]] void fail(const TextCursor& at, const std::string& what) {
  throw ScheduleError(fmt::format("line {}, column {}: {}", at.line(), at.column(), what));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  Schedule parse() {
    for (skip_blank_lines(); !cursor_.at_end(); skip_blank_lines()) read_line();
    return std::move(schedule_);
  }

 private:
  // Blanks, line ends and comments.
  void skip_blank_lines() {
    for (;;) {
      cursor_.skip_spaces();
      if (cursor_.peek() == '#') skip_comment();
      if (!cursor_.take('\n')) return;
    }
  }

  void skip_comment() {
    cursor_.take_while([](char c) { return c != '\n'; });
  }

  void read_line() {
    const TextCursor start = cursor_;
    if (cursor_.peek() == '.') {
      read_continuation(start);
    } else {
      std::string word = read_name("a stage or own_schedule()");
      if (cursor_.peek() == '(') {
        read_stageless(start, word);
      } else {
        read_chain(start, std::move(word));
      }
    }
    cursor_.skip_spaces();
    if (cursor_.peek() == '#') skip_comment();
    if (!cursor_.at_end() && cursor_.peek() != '\n') fail(cursor_, fmt::format("expected '.', a comment or the end of the line, found {}", cursor_.found()));
  }

  // A line that begins with '.' goes on with the chain above.
  void read_continuation(const TextCursor& start) {
    if (schedule_.directives.empty() || schedule_.is_opaque()) fail(start, "a line that begins with '.' continues a chain, but there is none above");
    read_calls();
  }

  void read_chain(const TextCursor& start, std::string word) {
    if (schedule_.is_opaque()) fail(start, fmt::format("{} stands alone in a schedule, found more", print(schedule_.directives.front())));
    const std::string stage = read_wrapper(std::move(word));
    int update = -1;
    const TextCursor before = cursor_;
    if (cursor_.take('.')) {
      cursor_.skip_spaces();
      if (cursor_.take_while(is_word_part) == "update") {
        update = read_update_index();
      } else {
        cursor_ = before;
      }
    }
    if (cursor_.peek() != '.') fail(cursor_, fmt::format("expected '.' and a directive after '{}', found {}", stage, cursor_.found()));
    said_of_ = {stage, update, {}, {}, {}};
    read_calls();
  }

  int read_update_index() {
    if (!cursor_.take('(')) fail(cursor_, fmt::format("expected '(' after 'update', found {}", cursor_.found()));
    cursor_.skip_spaces();
    const TextCursor start = cursor_;
    const std::string digits = cursor_.take_while(is_digit);
    cursor_.skip_spaces();
    const auto index = digits.empty() ? 0 : parse_integer(digits);
    if (!index || *index > 1000) fail(start, fmt::format("'{}' is no update's number", digits));
    if (!cursor_.take(')')) fail(cursor_, fmt::format("expected the number of an update and ')', found {}", cursor_.found()));
    return static_cast<int>(*index);
  }

  void read_calls() {
    while (cursor_.take('.')) {
      cursor_.skip_spaces();
      const TextCursor start = cursor_;
      const std::string name = cursor_.take_while(is_word_part);
      if (name.empty()) fail(start, fmt::format("expected a directive after '.', found {}", start.found()));
      if (name == "update") fail(start, "update(n) stands directly after the stage, before any directive");
      if (name == "in") fail(start, "in() stands directly after the stage, before update(n) and any directive");
      const DirectiveSpec& spec = known_directive(start, name);
      refuse_place(start, spec);
      Directive directive = said_of_;
      directive.name = name;
      directive.arguments = read_arguments(start, spec);
      append(std::move(directive));
      const TextCursor after = cursor_;
      cursor_.skip_spaces();
      if (cursor_.peek() != '.') cursor_ = after;
    }
  }

  // Where a directive may not be said at all.
  void refuse_place(const TextCursor& start, const DirectiveSpec& spec) const {
    if (spec.is_opaque) fail(start, fmt::format("{} belongs to no stage and stands alone in a schedule", spec.name));
    if (spec.name == "specialize" && !said_of_.condition.empty())
      fail(start, "a specialization cannot be specialized again; write one condition, joined by &&");
    if (!spec.is_pure_only) return;
    if (!said_of_.condition.empty())
      fail(start, fmt::format("{0} belongs to the whole stage, not to a specialization: write {1}.{0}(…)", spec.name, said_of_.stage));
    if (said_of_.update >= 0)
      fail(start, fmt::format("{0} belongs to the whole stage, not to an update: write {1}.{0}(…)", spec.name, said_of_.stage));
  }

  // `specialize` of a condition that the definition has already goes on with that specialization.
  void append(Directive directive) {
    const bool specializes = directive.name == "specialize";
    if (specializes) said_of_.condition = std::get<std::string>(directive.arguments.front());
    const auto& said = schedule_.directives;
    if (!specializes || std::find(said.begin(), said.end(), directive) == said.end()) schedule_.directives.push_back(std::move(directive));
  }

  void read_stageless(const TextCursor& start, const std::string& name) {
    const DirectiveSpec& spec = known_directive(start, name);
    if (!spec.is_opaque) fail(start, fmt::format("'{0}' needs a stage before it, as in c.{0}(…)", name));
    if (!schedule_.directives.empty()) fail(start, fmt::format("{} stands alone in a schedule, found other directives above it", name));
    schedule_.directives.push_back({"", -1, name, read_arguments(start, spec)});
  }

  const DirectiveSpec& known_directive(const TextCursor& start, const std::string& name) const {
    if (const DirectiveSpec* spec = find_directive(name)) return *spec;
    std::vector<std::string> names;
    for (const DirectiveSpec& spec : directives()) names.emplace_back(spec.name);
    const std::string near = nearest(name, names);
    fail(start, fmt::format("unknown directive '{}'{}; the directives are {}", name, near.empty() ? "" : fmt::format(", did you mean '{}'", near),
                            listed(names)));
  }

  std::vector<DirectiveArgument> read_arguments(const TextCursor& start, const DirectiveSpec& spec) {
    if (!cursor_.take('(')) fail(cursor_, fmt::format("expected '(' after '{}', found {}", spec.name, cursor_.found()));
    std::vector<DirectiveArgument> arguments;
    std::vector<TextCursor> positions;
    cursor_.skip_spaces();
    while (!cursor_.take(')')) {
      positions.push_back(cursor_);
      arguments.push_back(takes_condition(spec, arguments.size()) ? read_condition_argument() : read_argument());
      cursor_.skip_spaces();
      if (cursor_.take(',')) {
        cursor_.skip_spaces();
        if (cursor_.peek() == ')') fail(cursor_, "expected an argument after ',', found ')'");
      } else if (cursor_.peek() != ')') {
        fail(cursor_, fmt::format("expected ',' or ')', found {}", cursor_.found()));
      }
    }
    if (const auto mismatch = explain_mismatch(spec, arguments))
      fail(mismatch->argument < 0 ? start : positions[static_cast<std::size_t>(mismatch->argument)], mismatch->text);
    return arguments;
  }

  static bool takes_condition(const DirectiveSpec& spec, std::size_t argument) {
    const std::vector<Parameter>& parameters = spec.signatures.front().parameters;
    return argument < parameters.size() && parameters[argument].kind == ParameterKind::condition;
  }

  DirectiveArgument read_condition_argument() {
    std::string expected;
    const auto condition = read_condition(cursor_, expected);
    if (!condition) fail(cursor_, fmt::format("expected {}, found {}", expected, cursor_.found()));
    return print(*condition);
  }

  DirectiveArgument read_argument() {
    const TextCursor start = cursor_;
    if (is_digit(cursor_.peek()) || cursor_.peek() == '-') {
      std::string digits(cursor_.peek() == '-' ? 1 : 0, cursor_.peek());
      if (!digits.empty()) cursor_.next();
      digits += cursor_.take_while(is_word_part);
      const auto number = parse_integer(digits);
      if (!number) fail(start, fmt::format("'{}' is no number", digits));
      return *number;
    }
    std::string word = read_name("a loop, a stage or a number");
    // Halide's C++ spelling of its enumerations is read too.
    const bool is_enumeration =
        word == "TailStrategy" || word == "MemoryType" || word == "LoopAlignStrategy" || word == "PrefetchBoundStrategy" || word == "Partition";
    if (is_enumeration && cursor_.peek() == ':' && cursor_.peek_second() == ':') {
      cursor_.next();
      cursor_.next();
      return read_name("its value");
    }
    if (cursor_.take('=')) {
      const std::string value = cursor_.take_while([](char c) { return is_word_part(c) || c == '.' || c == '-' || c == '+'; });
      if (value.empty()) fail(cursor_, fmt::format("expected a value after '{}=', found {}", word, cursor_.found()));
      return word + "=" + value;
    }
    return read_argument_word(std::move(word));
  }

  // `r.x`, `c`, `c.update(0)`, `blur#2`, `B.in()`, `f.in(g)`.
  std::string read_argument_word(std::string word) {
    while (cursor_.peek() == '.' && is_word_start(cursor_.peek_second())) {
      const TextCursor before = cursor_;
      cursor_.next();
      const std::string part = cursor_.take_while(is_word_part);
      if (part == "in" && cursor_.peek() == '(') {
        cursor_ = before;
        word = read_wrapper(std::move(word));
        continue;
      }
      if (part == "update" && cursor_.peek() == '(') return fmt::format("{}.update({})", word, read_update_index());
      word += "." + part;
    }
    return word;
  }

  // A name with its `#2`; the rest is not looked at.
  std::string read_name(std::string_view what) {
    if (!is_word_start(cursor_.peek())) fail(cursor_, fmt::format("expected {}, found {}", what, cursor_.found()));
    std::string name = cursor_.take_while(is_word_part);
    if (cursor_.peek() == '#' && is_digit(cursor_.peek_second())) {
      cursor_.next();
      name += "#" + cursor_.take_while(is_digit);
    }
    return name;
  }

  // The `.in()` or `.in(consumer)` that may follow a name.
  std::string read_wrapper(std::string name) {
    const TextCursor before = cursor_;
    if (!cursor_.take('.')) return name;
    if (cursor_.take_while(is_word_part) != "in") {
      cursor_ = before;
      return name;
    }
    if (!cursor_.take('(')) fail(cursor_, fmt::format("expected '(' after 'in', found {}", cursor_.found()));
    cursor_.skip_spaces();
    const std::string consumer = cursor_.peek() == ')' ? "" : read_name("a stage that reads it, or ')'");
    cursor_.skip_spaces();
    if (!cursor_.take(')')) fail(cursor_, fmt::format("expected ')', found {}", cursor_.found()));
    return name + ".in(" + consumer + ")";
  }

  TextCursor cursor_;
  Schedule schedule_;
  Directive said_of_;  // stage, update and condition of the chain being read
};

}  // namespace

Schedule parse_schedule(std::string_view text) { return Parser(text).parse(); }

}  // namespace kiln
