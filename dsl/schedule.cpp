#include "dsl/schedule.h"

#include <fmt/format.h>

#include "dsl/directive.h"

namespace kiln {
namespace {

std::string definition(const Directive& directive) {
  if (directive.update < 0) return directive.stage;
  return fmt::format("{}.update({})", directive.stage, directive.update);
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
    const bool continues = previous && !directive.stage.empty() && directive.stage == previous->stage && directive.update == previous->update;
    if (continues) {
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
