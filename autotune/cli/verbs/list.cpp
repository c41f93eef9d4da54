// kiln list operators|spaces|devices
#include <CLI/CLI.hpp>

#include "autotune/cli/pages/lists.h"
#include "autotune/cli/print.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"
#include "autotune/probe.h"
#include "autotune/reader.h"
#include "dsl/error.h"
#include "schedules/spaces.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::string what;
  std::vector<std::string> libraries;
};

std::vector<OperatorSignature> signatures(const std::vector<std::string>& libraries) {
  Reader reader(libraries, probe().device);
  std::vector<OperatorSignature> all;
  for (const std::string& name : reader.generators()) all.push_back(reader.signature(name));
  return all;
}

std::string list(const Flags& flags, const Common& common) {
  const bool colour = stdout_takes_colour();
  if (flags.what == "operators") {
    const auto all = signatures(flags.libraries);
    return common.json ? operators_json(all) : print_operators(all, colour);
  }
  if (flags.what == "spaces") {
    const auto all = schedules::shipped_spaces();
    return common.json ? spaces_json(all) : print_spaces(all, colour);
  }
  if (flags.what == "devices") {
    const auto all = known_devices(probe().device, common.db);
    return common.json ? devices_json(all) : print_devices(all, colour);
  }
  throw UsageError(flags.what.empty() ? "`kiln list` needs to know what: operators, spaces or devices"
                                      : "`kiln list` knows operators, spaces and devices, not " + flags.what);
}

}  // namespace

Action declare_list(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("WHAT", flags->what, "operators, spaces or devices");
  app.add_option("--load", flags->libraries, "a shared library with generators; may be repeated")->option_text("LIB")->allow_extra_args(false);
  return [flags](const Common& common) {
    print_result(list(*flags, common));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
