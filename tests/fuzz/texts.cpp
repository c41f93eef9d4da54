#include "tests/fuzz/texts.h"

#include <array>

#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "tests/support/small_algorithms.h"

namespace kiln::tests {
namespace {

struct Case {
  Algorithm algorithm;
  Problem problem;
};

const std::array<Case, 3>& cases() {
  const auto with = [](Algorithm algorithm, std::string_view text) {
    Problem problem = resolve(parse_problem_text(text), algorithm);
    return Case{std::move(algorithm), std::move(problem)};
  };
  static const std::array<Case, 3> kCases = {with(product(), "product(m=70, n=96, k=40)"), with(blurs(), "blurs(input.0=130, input.1=40, out.0=120, out.1=40)"),
                                             with(reductions(), "reductions(w=64, h=40)")};
  return kCases;
}

}  // namespace

void try_schedule_text(std::string_view text) {
  Schedule schedule;
  try {
    schedule = parse_schedule(text);
  } catch (const ScheduleError&) {
    return;
  }
  const std::string printed = print(schedule);
  const Schedule again = parse_schedule(printed);
  KILN_CHECK(again == schedule, "a schedule prints as another");
  KILN_CHECK(print(again) == printed, "a schedule prints twice in two ways");
  for (const Case& one : cases())
    if (const auto illegal = find_illegal(schedule, one.algorithm, &one.problem))
      KILN_CHECK(illegal->directive < schedule.directives.size() && !illegal->message.empty(), "a refusal that names no directive");
}

void try_problem_text(std::string_view text) {
  ProblemText written;
  try {
    written = parse_problem_text(text);
  } catch (const UsageError&) {
    return;
  }
  for (const Case& one : cases()) {
    Problem problem;
    try {
      problem = resolve(written, one.algorithm);
    } catch (const UsageError&) {
      continue;
    }
    KILN_CHECK(resolve(parse_problem_text(print(problem)), one.algorithm) == problem, "a problem prints as another");
  }
}

}  // namespace kiln::tests
