#include "db/coverage.h"

#include <nlohmann/json.hpp>

namespace kiln::db {

void record_coverage(Store& store, const CoverageRow& row) {
  Transaction transaction = store.transaction("record what serves untuned extents in");
  store.connection().run(
      "INSERT INTO coverage (build_id, problem_id, device_id, tier, extents, checked, max_error, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
      "ON CONFLICT DO UPDATE SET extents = excluded.extents, checked = excluded.checked, max_error = excluded.max_error, at = excluded.at",
      row.build, row.problem, row.device, row.tier, nlohmann::json(row.extents).dump(), nlohmann::json(row.checked).dump(), row.max_error,
      store.now());
  transaction.commit();
}

std::vector<CoverageRow> coverage(Store& store, AlgorithmId algorithm, DeviceId device) {
  Statement rows = store.connection().query(
      "SELECT c.tier, c.build_id, c.problem_id, c.extents, c.checked, c.max_error FROM coverage c JOIN problem p USING (problem_id) "
      "WHERE p.algorithm_id = ?1 AND c.device_id = ?2 ORDER BY c.tier, c.problem_id, c.build_id",
      algorithm, device);
  std::vector<CoverageRow> found;
  while (rows.step()) {
    CoverageRow row;
    row.tier = rows.text(0);
    row.build = rows.id<BuildId>(1);
    row.problem = rows.id<ProblemId>(2);
    row.device = device;
    row.extents = nlohmann::json::parse(rows.text(3)).get<decltype(row.extents)>();
    row.checked = nlohmann::json::parse(rows.text(4)).get<decltype(row.checked)>();
    row.max_error = rows.real(5);
    found.push_back(std::move(row));
  }
  return found;
}

void drop_buckets(Store& store, ProblemId problem, DeviceId device) {
  Transaction transaction = store.transaction("drop buckets in");
  store.connection().run("DELETE FROM coverage WHERE problem_id = ?1 AND device_id = ?2 AND tier = 'bucket'", problem, device);
  transaction.commit();
}

}  // namespace kiln::db
