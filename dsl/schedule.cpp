#include "dsl/schedule.h"

#include <fmt/format.h>

#include "dsl/directive.h"

namespace kiln {
namespace {

std::string definition(const Directive& directive) {
  std::string text = directive.stage;
  if (directive.update >= 0) text += fmt::format(".update({})", directive.update);
  if (!directive.condition.empty()) text += fmt::format(".specialize({})", directive.condition);
  return text;
}

// Whether a directive goes on with the chain of the one before it.
bool continues(const Directive& previous, const Directive& directive) {
  if (directive.stage.empty() || directive.stage != previous.stage || directive.update != previous.update) return false;
  // What follows a specialize is said of the specialization.
  if (previous.name != "specialize") return directive.condition == previous.condition;
  return previous.arguments == std::vector<DirectiveArgument>{directive.condition};
}

std::string print_argument(const DirectiveArgument& argument) {
  if (const auto* number = std::get_if<std::int64_t>(&argument)) return std::to_string(*number);
  return std::get<std::string>(argument);
}

std::string call(const Directive& directive) {
  std::string text = directive.name + "(";
  for (std::size_t i = 0; i < directive.arguments.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(print_argument(directive.arguments[i]));
  return text + ")";
}

}  // namespace

bool Schedule::is_opaque() const { return directives.size() == 1 && directives.front().stage.empty(); }

std::string print(const Directive& directive) {
  return directive.stage.empty() ? call(directive) : definition(directive) + "." + call(directive);
}

std::string print(const Schedule& schedule) {
  std::string text;
  const Directive* previous = nullptr;
  for (const Directive& directive : schedule.directives) {
    if (previous && continues(*previous, directive)) {
      text += "." + call(directive);
    } else {
      text.append(previous ? "\n" : "").append(print(directive));
    }
    previous = &directive;
  }
  return previous ? text + "\n" : text;
}

Digest digest(const Schedule& schedule) { return digest("schedule", print(schedule)); }

}  // namespace kiln
