#include "db/demand.h"

#include <fmt/format.h>

#include <set>

#include "dsl/error.h"

namespace kiln::db {
namespace {

DemandTotal read_total(const Statement& row) {
  return {row.optional_id<ProblemId>(0), row.text(1), row.integer(2), row.real(3), row.real(4)};
}

// The digest's first digits are its name; 2^48 of them are enough for one store's imports.
std::string source_name(const Digest& digest) { return digest.short_hex(); }

// `written` is "operator(…".
bool names_operator(const std::string& written, const std::string& operator_name) {
  return operator_name.empty() || written.substr(0, written.find('(')) == operator_name;
}

}  // namespace

Import import_demand(Store& store, const Demand& demand, const Digest& source, double horizon_s) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("import a demand into");
  Import result;
  result.source = source_name(source);
  std::set<std::string> texts;
  for (const DemandLine& line : demand.lines) {
    texts.insert(line.problem);
    result.calls += line.calls;
  }
  result.problems = texts.size();
  if (demand.window_start) horizon_s = seconds_since_epoch(*demand.window_end) - seconds_since_epoch(*demand.window_start);
  result.is_new = db.run("INSERT INTO demand_source (digest, application, at, window_start, window_end, horizon_s, overflow) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (digest) DO NOTHING",
                         source, demand.application, store.now(), demand.window_start, demand.window_end, horizon_s, demand.overflow) == 1;
  if (!result.is_new) return result;
  const std::int64_t id = db.last_id();
  // A text that was linked before is linked here too: it names the same problem.
  for (const DemandLine& line : demand.lines)
    db.run("INSERT INTO demand (source_id, written, tier, calls, problem_id) VALUES (?1, ?2, ?3, ?4, "
           "(SELECT problem_id FROM demand WHERE written = ?2 AND problem_id IS NOT NULL LIMIT 1)) "
           "ON CONFLICT (source_id, written, tier) DO UPDATE SET calls = calls + excluded.calls",
           id, line.problem, line.tier, line.calls);
  transaction.commit();
  return result;
}

void remove_demand(Store& store, const std::string& source) {
  Transaction transaction = store.transaction("remove a demand from");
  for (const DemandSource& each : demand_sources(store)) {
    if (each.source != source) continue;
    store.connection().run("DELETE FROM demand_source WHERE lower(substr(hex(digest), 1, 12)) = ?1", source);
    transaction.commit();
    return;
  }
  throw UsageError(fmt::format("there is no demand {} in {}; `kiln demand show` lists them", source, store.path()));
}

std::vector<std::string> unlinked_demand(Store& store, const std::string& operator_name) {
  Statement row = store.connection().query("SELECT DISTINCT written FROM demand WHERE problem_id IS NULL ORDER BY written");
  std::vector<std::string> found;
  while (row.step())
    if (names_operator(row.text(0), operator_name)) found.push_back(row.text(0));
  return found;
}

void link_demand(Store& store, const std::string& written, ProblemId problem) {
  Transaction transaction = store.transaction("link a demand in");
  store.connection().run("UPDATE demand SET problem_id = ?2 WHERE written = ?1 AND problem_id IS NOT ?2", written, problem);
  transaction.commit();
}

std::vector<DemandTotal> demand_totals(Store& store) {
  Statement row = store.connection().query("SELECT problem_id, written, calls, calls_per_s, tuned_share FROM v_demand ORDER BY calls_per_s DESC, written");
  std::vector<DemandTotal> found;
  while (row.step()) found.push_back(read_total(row));
  return found;
}

std::optional<DemandTotal> demand_of(Store& store, ProblemId problem) {
  Statement row = store.connection().query("SELECT problem_id, written, calls, calls_per_s, tuned_share FROM v_demand WHERE problem_id = ?1", problem);
  return row.step() ? std::optional(read_total(row)) : std::nullopt;
}

std::vector<DemandSource> demand_sources(Store& store) {
  Statement row = store.connection().query(
      "SELECT s.digest, s.application, s.at, s.window_start, s.window_end, s.horizon_s, count(DISTINCT d.written), coalesce(sum(d.calls), 0), s.overflow "
      "FROM demand_source s LEFT JOIN demand d USING (source_id) GROUP BY s.source_id ORDER BY s.source_id");
  std::vector<DemandSource> found;
  while (row.step())
    found.push_back({source_name(row.digest(0)), row.text(1), row.text(2), row.optional_text(3), row.optional_text(4), row.real(5), row.integer(6),
                     row.integer(7), row.integer(8)});
  return found;
}

}  // namespace kiln::db
