// kiln export
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "autotune/cli/export/export_set.h"
#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/print.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"
#include "db/identities.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::vector<std::string> operators, names, devices;
  std::string set, target, version = "0.1.0";
};

// "ENTRY=cname": an operator, or an entry in words when an operator has several.
std::map<std::string, std::string> c_names(const std::vector<std::string>& flags) {
  std::map<std::string, std::string> names;
  for (const std::string& flag : flags) {
    const std::size_t at = flag.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == flag.size())
      throw UsageError(fmt::format("--name {}: expected ENTRY=cname, as in --name 'matmul(f32, epilogue=silu)=gate'", flag));
    names[flag.substr(0, at)] = flag.substr(at + 1);
  }
  return names;
}

db::DeviceId device_named(db::Store& store, const std::string& prefix) {
  std::string known;
  for (const db::DeviceId id : db::devices(store)) {
    const db::DeviceRow row = db::device(store, id);
    if (row.digest.hex().starts_with(prefix)) return id;
    known += fmt::format("\n  {}  {}", row.digest.short_hex(), row.model);
  }
  throw UsageError(fmt::format("--device {}: no device of the store begins so; it holds{}", prefix, known.empty() ? " none" : known));
}

std::string print_report(const ExportReport& report, const Flags& flags) {
  TextTable table;
  table.column("function").column("entry").column("exact", Align::right).column("bucket", Align::right).column("generic", Align::right);
  table.column("calls served exactly", Align::right);
  for (const ExportedEntry& entry : report.entries)
    table.row({flags.set + "_" + entry.c_name, entry.entry, std::to_string(entry.exact), std::to_string(entry.bucket), std::to_string(entry.generic),
               entry.calls > 0 ? fmt::format("{:.0f} %", 100 * entry.exact_calls / entry.calls) : "-"});
  std::string text = table.print(stdout_takes_colour());
  for (const std::string& line : report.left_out) text += "left out: " + line + "\n";
  for (const std::string& line : report.failed) text += "failed in the package, replaced: " + line + "\n";
  if (report.not_called > 0)
    text += fmt::format("{} variants for GPUs are packed as they were checked and measured: no such GPU is here to call them on\n", report.not_called);
  return text + fmt::format("{} calls through the package compared with the reference; {} holds the set '{}' (library {})\n", report.verified,
                            flags.target, flags.set, report.library_digest);
}

std::string report_json(const ExportReport& report) {
  Json entries = Json::array();
  for (const ExportedEntry& entry : report.entries)
    entries.push_back({{"function", entry.c_name}, {"entry", entry.entry}, {"exact", entry.exact}, {"bucket", entry.bucket}, {"generic", entry.generic}});
  return Json{{"entries", entries}, {"left_out", report.left_out}, {"failed", report.failed}, {"verified", report.verified}, {"not_called", report.not_called},
              {"library", report.library_digest}}
             .dump(2) + "\n";
}

int run(const Flags& flags, const Common& common) {
  if (flags.set.empty()) throw UsageError("which set? --set NAME: the prefix of every function in the package");
  if (flags.target.empty()) throw UsageError("where to? -o DIR: the prefix that receives include/, lib/ and share/");
  db::Store store = open_to_write(common);
  ExportRequest request;
  request.set.name = flags.set;
  request.set.version = flags.version;
  request.set.operators = flags.operators;
  request.set.c_names = c_names(flags.names);
  for (const std::string& prefix : flags.devices) request.set.devices.push_back(device_named(store, prefix));
  request.target = flags.target;
  const char* cache = std::getenv("KILN_CACHE_DIR");
  request.cache_folder = cache != nullptr ? cache : db::cache_folder(common.db);
  const ExportReport report = export_set(store, request, [&](const std::string& text) {
    if (!common.quiet) print_note(text);
  });
  print_result(common.json ? report_json(report) : print_report(report, flags));
  return kDone;
}

}  // namespace

Action declare_export(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("OPERATOR", flags->operators, "only these operators; none: all that have choices");
  app.add_option("--set", flags->set, "name of the set: the prefix of its functions and files")->option_text("NAME");
  app.add_option("-o", flags->target, "the folder that receives the package; an older package of the set in it is replaced")->option_text("DIR");
  app.add_option("--name", flags->names, "a C name for an entry, as in 'matmul(f32, epilogue=silu)=gate'; may be repeated")
      ->option_text("ENTRY=NAME")
      ->allow_extra_args(false);
  app.add_option("--set-version", flags->version, "version of the package (default 0.1.0)")->option_text("X.Y.Z");
  app.add_option("--device", flags->devices, "by its digest, when the store holds choices for several; repeated, one set serves several")
      ->option_text("DIGEST")
      ->allow_extra_args(false);
  return [flags](const Common& common) { return run(*flags, common); };
}

}  // namespace kiln::autotune::cli
