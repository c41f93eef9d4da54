// What legality says of schedules of the small algorithms: the message, or "legal".
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/legality.h"
#include "tests/support/small_algorithms.h"

namespace kiln::tests {

inline std::string verdict(const Algorithm& algorithm, const std::string& problem, const std::string& schedule) {
  const Problem resolved = resolve(parse_problem_text(problem), algorithm);
  const auto illegal = find_illegal(parse_schedule(schedule), algorithm, &resolved);
  return illegal ? illegal->message : "legal";
}

inline std::string of_product(const std::string& schedule) { return verdict(product(), "product(m=30, n=100, k=7)", schedule); }
inline std::string of_blurs(const std::string& schedule) { return verdict(blurs(), "blurs(input.0=66, input.1=34, out.0=64, out.1=32)", schedule); }
inline std::string of_reductions(const std::string& schedule) { return verdict(reductions(), "reductions(w=32)", schedule); }

struct Row {
  std::string schedule;
  std::string message;
};

inline void expect_rows(std::string (*judge)(const std::string&), const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(judge(row.schedule), row.message) << row.schedule;
}

}  // namespace kiln::tests
