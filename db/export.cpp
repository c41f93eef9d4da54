#include "db/export.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include "dsl/error.h"

namespace kiln::db {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// ---- CSV

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string lower_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// One row a measurement, and one a finished trial that has none. Column names are the query's.
std::string csv(Store& store, std::optional<RunId> run) {
  Statement row = store.connection().query(
      "SELECT p.operator, p.text AS problem, d.model AS device, pr.text AS protocol, r.uuid AS run, r.origin AS run_origin, s.digest AS schedule, "
      "s.origin AS schedule_origin, t.attempt, coalesce(t.outcome, t.state) AS outcome, t.reason, t.asked, t.allowed, t.detail, c.stage, c.uuid AS race, "
      "c.at, m.sample_count, m.q1_ns, m.median_ns, m.q3_ns, m.mad_ns, m.value_ns, m.ratio, m.ratio_lo, m.ratio_hi, m.quality, s.text AS schedule_text "
      "FROM trial t JOIN run r USING (run_id) JOIN problem p USING (problem_id) JOIN schedule s USING (schedule_id) JOIN device d USING (device_id) "
      "LEFT JOIN measurement m ON m.trial_id = t.trial_id LEFT JOIN race c ON c.race_id = m.race_id "
      "LEFT JOIN protocol pr ON pr.protocol_id = coalesce(c.protocol_id, r.protocol_id) "
      "WHERE (?1 IS NULL OR t.run_id = ?1) AND t.state <> 'planned' ORDER BY t.trial_id, m.measurement_id",
      run);
  std::string text;
  for (int i = 0; i < row.columns(); ++i) text += (i ? "," : "") + row.column_name(i);
  text += "\r\n";
  while (row.step()) {
    for (int i = 0; i < row.columns(); ++i)
      text += (i ? "," : "") + (row.is_null(i) ? std::string() : csv_field(row.is_blob(i) ? lower_hex(row.blob(i)) : row.text(i)));
    text += "\r\n";
  }
  return text;
}

// ---- T4

Json knobs_of(const std::optional<std::string>& point, const std::string& schedule) {
  if (point) return Json::parse(*point);
  return Json{{"schedule", schedule}};
}

// Times in seconds. `correctness` is 1 for a result that passed its check.
std::string t4(Store& store, std::optional<RunId> run) {
  Statement row = store.connection().query(
      "SELECT coalesce(t.ended, t.planned), s.point, s.text, b.compile_ms, b.lower_ms, o.invalidity, o.word, p.text, t.outcome, "
      "(SELECT m.samples FROM measurement m WHERE m.trial_id = t.trial_id ORDER BY m.measurement_id DESC LIMIT 1), "
      "(SELECT m.value_ns FROM measurement m WHERE m.trial_id = t.trial_id ORDER BY m.measurement_id DESC LIMIT 1), "
      "(SELECT m.ratio FROM measurement m WHERE m.trial_id = t.trial_id ORDER BY m.measurement_id DESC LIMIT 1) "
      "FROM trial t JOIN v_outcome o USING (trial_id) JOIN schedule s USING (schedule_id) JOIN problem p USING (problem_id) "
      "LEFT JOIN build b ON b.build_id = t.build_id WHERE ?1 IS NULL OR t.run_id = ?1 ORDER BY t.trial_id",
      run);
  Json results = Json::array();
  while (row.step()) {
    Json runtimes = Json::array(), measurements = Json::array();
    const std::string samples = row.blob(9);
    for (std::size_t i = 0; i + sizeof(float) <= samples.size(); i += sizeof(float)) {
      float ns = 0;
      std::memcpy(&ns, samples.data() + i, sizeof ns);
      runtimes.push_back(static_cast<double>(ns) * 1e-9);
    }
    if (!row.is_null(10)) measurements.push_back({{"name", "time"}, {"value", row.real(10) * 1e-9}, {"unit", "s"}});
    if (!row.is_null(11)) measurements.push_back({{"name", "ratio_to_baseline"}, {"value", row.real(11)}, {"unit", ""}});
    results.push_back({{"timestamp", row.text(0)},
                       {"configuration", knobs_of(row.optional_text(1), row.text(2))},
                       {"objectives", {"time"}},
                       {"times",
                        {{"compilation_time", (row.real(3) + row.real(4)) * 1e-3},
                         {"runtimes", std::move(runtimes)},
                         {"framework", 0.0},
                         {"search_algorithm", 0.0},
                         {"validation", 0.0}}},
                       {"invalidity", row.text(5)},
                       {"correctness", row.text(5) == "correct" ? 1.0 : 0.0},
                       {"measurements", std::move(measurements)},
                       {"problem", row.text(7)},
                       {"outcome", row.text(6)}});
  }
  return dump({{"schema_version", "1.0.0"}, {"results", std::move(results)}});
}

// ---- Google Benchmark

// One entry a measurement of the last stage; compare.py matches by name, so the name holds what identifies a result.
std::string google_benchmark(Store& store, std::optional<RunId> run) {
  Connection& db = store.connection();
  Json context{{"date", store.now()}, {"executable", "kiln"}, {"library_build_type", "release"}};
  Statement device = db.query("SELECT d.model, d.units, d.text FROM run r JOIN device d USING (device_id) WHERE ?1 IS NULL OR r.run_id = ?1 "
                              "ORDER BY r.run_id DESC LIMIT 1", run);
  if (device.step()) {
    context["device"] = device.text(0);
    context["num_cpus"] = device.integer(1);
    context["device_text"] = device.text(2);
  }
  Statement row = db.query(
      "SELECT p.text, s.digest, c.stage, m.sample_count, m.value_ns, m.ratio, m.ratio_lo, m.ratio_hi, m.quality, c.race_id FROM measurement m "
      "JOIN race c USING (race_id) JOIN trial t ON t.trial_id = m.trial_id JOIN problem p ON p.problem_id = t.problem_id "
      "JOIN schedule s USING (schedule_id) WHERE c.stage IN ('final', 'revalidate') AND (?1 IS NULL OR c.run_id = ?1) ORDER BY m.measurement_id",
      run);
  Json benchmarks = Json::array();
  while (row.step()) {
    const std::string name = fmt::format("{}/{}", row.text(0), row.digest(1).short_hex());
    Json entry{{"name", name},
               {"run_name", name},
               {"run_type", "iteration"},
               {"repetitions", 1},
               {"repetition_index", 0},
               {"threads", 1},
               {"iterations", row.integer(3)},
               {"real_time", row.real(4)},
               {"cpu_time", row.real(4)},
               {"time_unit", "ns"},
               {"ratio", row.real(5)},
               {"ratio_lo", row.real(6)}};
    if (!row.is_null(7)) entry["ratio_hi"] = row.real(7);
    entry["race"] = row.integer(9);
    entry["label"] = row.text(2) + " " + row.text(8);
    benchmarks.push_back(std::move(entry));
  }
  return dump({{"context", std::move(context)}, {"benchmarks", std::move(benchmarks)}});
}

// ---- Chrome trace

Json slice(const char* category, const std::string& name, std::int64_t id, double start_s, double end_s, std::int64_t run, const Json& arguments) {
  // Asynchronous begin and end: slices of parallel workers need not nest.
  const Json begin{{"ph", "b"}, {"cat", category}, {"name", name}, {"id", id}, {"pid", run}, {"tid", 1}, {"ts", std::llround(start_s * 1e6)},
                   {"args", arguments}};
  const Json end{{"ph", "e"}, {"cat", category}, {"name", name}, {"id", id}, {"pid", run}, {"tid", 1}, {"ts", std::llround(end_s * 1e6)}};
  return Json::array({begin, end});
}

void append(Json& events, const Json& more) {
  for (const Json& each : more) events.push_back(each);
}

void add_runs(Store& store, std::optional<RunId> run, Json& events) {
  Statement row = store.connection().query("SELECT r.run_id, r.uuid, d.model FROM run r JOIN device d USING (device_id) WHERE ?1 IS NULL OR r.run_id = ?1", run);
  while (row.step())
    events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", row.integer(0)}, {"tid", 0},
                      {"args", {{"name", fmt::format("run {} on {}", row.text(1).substr(0, 8), row.text(2))}}}});
}

void add_trials(Store& store, std::optional<RunId> run, Json& events) {
  Statement row = store.connection().query(
      "SELECT t.trial_id, t.run_id, p.text, s.digest, t.started, t.ended, coalesce(t.reason, t.outcome), b.at, b.lower_ms, b.compile_ms, t.planned "
      "FROM trial t JOIN problem p USING (problem_id) JOIN schedule s USING (schedule_id) LEFT JOIN build b ON b.build_id = t.build_id "
      "WHERE t.state = 'done' AND (?1 IS NULL OR t.run_id = ?1) ORDER BY t.trial_id",
      run);
  while (row.step()) {
    const std::int64_t id = row.integer(0), in_run = row.integer(1);
    const std::string name = row.digest(3).short_hex();
    const Json arguments{{"problem", row.text(2)}, {"outcome", row.text(6)}};
    if (!row.is_null(7)) {
      const double end_s = seconds_since_epoch(row.text(7)), ms = row.real(8) + row.real(9);
      append(events, slice("build", name, 2 * id, end_s - ms * 1e-3, end_s, in_run, arguments));
    }
    if (!row.is_null(4))
      append(events, slice("trial", name, 2 * id + 1, seconds_since_epoch(row.text(4)), seconds_since_epoch(row.text(5)), in_run, arguments));
  }
}

void add_marks(Store& store, std::optional<RunId> run, Json& events) {
  Statement row = store.connection().query("SELECT run_id, at, kind, detail FROM run_event WHERE ?1 IS NULL OR run_id = ?1 ORDER BY run_id, at", run);
  while (row.step())
    events.push_back({{"ph", "i"}, {"s", "p"}, {"cat", "event"}, {"name", row.text(2)}, {"pid", row.integer(0)}, {"tid", 1},
                      {"ts", std::llround(seconds_since_epoch(row.text(1)) * 1e6)}, {"args", {{"detail", row.text(3)}}}});
}

std::string chrome_trace(Store& store, std::optional<RunId> run) {
  Json events = Json::array();
  add_runs(store, run, events);
  add_trials(store, run, events);
  add_marks(store, run, events);
  return dump({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}});
}

}  // namespace

std::string export_results(Store& store, ExportFormat format, std::optional<RunId> run) {
  Attempt attempt(store.connection(), "export");
  switch (format) {
    case ExportFormat::csv: return csv(store, run);
    case ExportFormat::t4: return t4(store, run);
    case ExportFormat::google_benchmark: return google_benchmark(store, run);
    case ExportFormat::chrome_trace: return chrome_trace(store, run);
  }
  KILN_CHECK(false, "an export format that does not exist");
  return {};
}

}  // namespace kiln::db
