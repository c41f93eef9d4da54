// What a store holds, as text: for telling whether something was lost, changed or done twice.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "db/store.h"

namespace kiln::tests {

// Every row of `table` that satisfies `condition`, all columns as SQL literals, with the table's name before them.
inline std::set<std::string> rows_of(db::Store& store, const std::string& table, const std::string& condition) {
  std::string literals;
  {
    db::Statement column = store.connection().query("SELECT name FROM pragma_table_info('" + table + "')");
    while (column.step()) literals += (literals.empty() ? "quote(" : " || ' ' || quote(") + column.text(0) + ")";
  }
  std::set<std::string> rows;
  db::Statement row = store.connection().query("SELECT " + literals + " FROM " + table + " WHERE " + condition);
  while (row.step()) rows.insert(table + " " + row.text(0));
  return rows;
}

// What nobody may lose or change once it is committed: outcomes, times, checks, builds, decisions.
inline std::set<std::string> committed_results(const std::string& path) {
  db::Store store(path);
  std::set<std::string> results;
  for (const char* table : {"algorithm", "problem", "schedule", "build", "build_problem", "race", "measurement", "choice", "coverage", "artifact"})
    results.merge(rows_of(store, table, "1"));
  results.merge(rows_of(store, "trial", "state = 'done'"));
  results.merge(rows_of(store, "verification", "trial_id IN (SELECT trial_id FROM trial WHERE state = 'done')"));
  results.merge(rows_of(store, "run", "state <> 'running'"));
  return results;
}

// The rows of `before` that `after` lacks; each cut to what fits a message.
inline std::vector<std::string> lost(const std::set<std::string>& before, const std::set<std::string>& after) {
  std::vector<std::string> missing;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(missing));
  for (std::string& row : missing) row = row.substr(0, 300);
  return missing;
}

// Schedules with two outcomes for one problem. A suspect's row, settled with its retry, is the one allowed.
inline std::vector<std::string> tried_twice(const std::string& path) {
  db::Store store(path);
  db::Statement row = store.connection().query(
      "SELECT p.text, s.text, group_concat(t.trial_id || ' of run ' || t.run_id || ' ' || coalesce(t.reason, 'ok'), ', ') FROM trial t "
      "JOIN problem p USING (problem_id) JOIN schedule s USING (schedule_id) "
      "WHERE t.state = 'done' AND t.detail IS NOT 'its process ended while this candidate ran' GROUP BY t.problem_id, t.schedule_id HAVING count(*) > 1");
  std::vector<std::string> twice;
  while (row.step()) twice.push_back(row.text(0) + ": " + row.text(1) + ": trials " + row.text(2));
  return twice;
}

// One number that a query over the store answers.
inline std::int64_t count(const std::string& path, const std::string& query) {
  db::Store store(path);
  db::Statement row = store.connection().query(query);
  return row.step() ? row.integer(0) : 0;
}

}  // namespace kiln::tests
