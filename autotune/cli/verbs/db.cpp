// kiln db check|merge|export|vacuum
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/print.h"
#include "autotune/cli/units.h"
#include "autotune/cli/verbs/verbs.h"
#include "db/check.h"
#include "db/export.h"
#include "db/merge.h"
#include "db/runs.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

std::string print_findings(const std::vector<db::Finding>& findings, const std::string& db) {
  if (findings.empty()) return db + " is whole\n";
  std::string text;
  for (const db::Finding& finding : findings) text += fmt::format("{}: {}\n", finding.check, finding.text);
  return text + fmt::format("{}: {} finding{}\n", db, findings.size(), findings.size() == 1 ? "" : "s");
}

std::string findings_json(const std::vector<db::Finding>& findings) {
  Json array = Json::array();
  for (const db::Finding& finding : findings) array.push_back({{"check", finding.check}, {"text", finding.text}});
  return array.dump(2) + "\n";
}

std::string print_merged(const std::string& file, const db::MergeReport& report) {
  std::string added;
  for (const auto& [table, rows] : report.added)
    if (rows > 0) added += fmt::format("{}{} {}", added.empty() ? "" : ", ", print_count(rows), table);
  std::string text = fmt::format("{}: {}\n  runs: {} own, {} foreign", file, added.empty() ? "nothing new" : added, report.own_runs, report.foreign_runs);
  if (report.adopted_runs > 0) text += fmt::format(", {} adopted", report.adopted_runs);
  if (report.foreign_runs > 0) text += "; foreign results are hints that cannot be chosen (--trust adopts them)";
  return text + "\n";
}

Json merged_json(const std::string& file, const db::MergeReport& report) {
  return {{"file", file}, {"added", report.added}, {"own_runs", report.own_runs}, {"foreign_runs", report.foreign_runs},
          {"adopted_runs", report.adopted_runs}};
}

db::ExportFormat parse_format(const std::string& text) {
  static const std::map<std::string, db::ExportFormat> formats = {{"csv", db::ExportFormat::csv},
                                                                  {"t4", db::ExportFormat::t4},
                                                                  {"google-benchmark", db::ExportFormat::google_benchmark},
                                                                  {"chrome-trace", db::ExportFormat::chrome_trace}};
  const auto at = formats.find(text);
  if (at == formats.end())
    throw UsageError(fmt::format("--format {}: there are csv, t4, google-benchmark and chrome-trace", text.empty() ? "''" : text));
  return at->second;
}

}  // namespace

Action declare_db_check(CLI::App&) {
  return [](const Common& common) {
    // Opening to write brings an older store to today's schema; a copy that cannot be written is checked as it is.
    const bool is_writable = access(common.db.c_str(), W_OK) == 0;
    db::Store store = is_writable ? open_to_write(common) : open_to_read(common);
    const std::vector<db::Finding> findings = db::check(store);
    print_result(common.json ? findings_json(findings) : print_findings(findings, common.db));
    return findings.empty() ? kDone : kData;
  };
}

Action declare_db_merge(CLI::App& app) {
  struct Flags {
    std::vector<std::string> files;
    bool trust = false;
  };
  auto flags = std::make_shared<Flags>();
  app.add_option("FILE", flags->files, "stores to take results from; they are not changed");
  app.add_flag("--trust", flags->trust, "adopt runs that were not planned here, so that their results can be chosen");
  return [flags](const Common& common) {
    if (flags->files.empty()) throw UsageError("`kiln db merge` needs a FILE");
    db::Store store(common.db);
    Json array = Json::array();
    std::string text;
    for (const std::string& file : flags->files) {
      const db::MergeReport report = db::merge(store, file, {.trust = flags->trust});
      text += print_merged(file, report);
      array.push_back(merged_json(file, report));
    }
    print_result(common.json ? array.dump(2) + "\n" : text);
    return kDone;
  };
}

Action declare_db_export(CLI::App& app) {
  struct Flags {
    std::string format, run;
  };
  auto flags = std::make_shared<Flags>();
  app.add_option("--format", flags->format, "csv, t4, google-benchmark or chrome-trace")->option_text("FORMAT");
  app.add_option("--run", flags->run, "only this run (the beginning of its name will do)")->option_text("RUN");
  return [flags](const Common& common) {
    const db::ExportFormat format = parse_format(flags->format);
    db::Store store = open_to_read(common);
    std::optional<db::RunId> run;
    if (!flags->run.empty()) {
      run = db::find_run(store, flags->run);
      if (!run) throw UsageError(fmt::format("--run {}: no run of {} begins with that; `kiln status` lists them", flags->run, common.db));
    }
    print_result(db::export_results(store, format, run));
    return kDone;
  };
}

Action declare_db_vacuum(CLI::App&) {
  return [](const Common& common) {
    db::Store store = open_to_write(common);
    const auto before = std::filesystem::file_size(common.db);
    db::vacuum(store);
    const auto after = std::filesystem::file_size(common.db);
    print_result(common.json ? Json{{"bytes_before", before}, {"bytes_after", after}}.dump(2) + "\n"
                             : fmt::format("{}: {} before, {} after\n", common.db, print_bytes(static_cast<double>(before)),
                                           print_bytes(static_cast<double>(after))));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
