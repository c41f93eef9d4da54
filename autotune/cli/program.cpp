#include "autotune/cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "dsl/directive.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

constexpr const char* kVersion = "kiln " KILN_VERSION;

// The groups that two-word verbs belong to, with the sentence that the list of verbs shows.
const std::map<std::string, std::string>& groups() {
  static const std::map<std::string, std::string> all = {{"demand", "which shapes applications call, and how often"},
                                                         {"db", "care for the store"}};
  return all;
}

// CLI11's tree of apps with what each leaf does.
struct Tree {
  CLI::App root{"Kiln schedules kernels overnight: generators in, tuned and checked kernels out.", "kiln"};
  std::map<std::string, CLI::App*> apps;  // by full name, groups included
  std::map<std::string, Action> actions;
  std::shared_ptr<Common> common = std::make_shared<Common>();
  bool version = false;
};

CLI::App* add_app(CLI::App& parent, const std::string& name, const std::string& sentence) {
  CLI::App* app = parent.add_subcommand(name, sentence);
  app->group("Verbs");
  app->get_formatter()->label("SUBCOMMAND", "VERB");
  app->get_formatter()->column_width(28);
  return app;
}

void add_common(CLI::App& app, Common& common) {
  app.add_option("--db", common.db, "the store (default: $KILN_DB, else kiln.db)")->option_text("FILE");
  app.add_flag("--json", common.json, "one JSON document on stdout");
  app.add_flag("--quiet", common.quiet, "no progress on stderr");
}

CLI::App* parent_of(Tree& tree, const std::string& name, std::string& last_word) {
  const std::size_t blank = name.find(' ');
  last_word = blank == std::string::npos ? name : name.substr(blank + 1);
  if (blank == std::string::npos) return &tree.root;
  const std::string group = name.substr(0, blank);
  const auto [at, is_new] = tree.apps.try_emplace(group, nullptr);
  if (is_new) at->second = add_app(tree.root, group, groups().at(group));
  return at->second;
}

std::unique_ptr<Tree> make_tree(const std::vector<Verb>& verbs) {
  auto tree = std::make_unique<Tree>();
  tree->root.get_formatter()->label("SUBCOMMAND", "VERB");
  tree->root.get_formatter()->column_width(28);
  tree->root.add_flag("--version", tree->version, "print the version and exit");
  tree->root.footer("Every verb takes --help. Exit codes: 0 done, 1 a negative answer, 2 usage, 3 something of the machine is\n"
                    "missing or in use, 4 the store, 130 and 143 interrupted (results are kept).\n"
                    "Read from the environment: KILN_DB, the store; KILN_CACHE_DIR, where objects are kept (default: beside the\n"
                    "store); NO_COLOR.");
  for (const Verb& verb : verbs) {
    std::string word;
    CLI::App* app = add_app(*parent_of(*tree, verb.name, word), word, verb.sentence);
    tree->actions[verb.name] = verb.declare(*app);
    add_common(*app, *tree->common);
    app->footer("Example:\n  " + verb.example);
    tree->apps[verb.name] = app;
  }
  return tree;
}

std::vector<std::string> names_below(const std::vector<Verb>& verbs, const std::string& group) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    const std::size_t blank = verb.name.find(' ');
    const std::string name = group.empty() ? verb.name.substr(0, blank) : blank != std::string::npos && verb.name.substr(0, blank) == group
                                                                               ? verb.name.substr(blank + 1)
                                                                               : std::string();
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

[[noreturn]] void unknown_verb(const std::string& word, const std::vector<std::string>& known, const std::string& group) {
  const std::string near = nearest(word, known);
  throw UsageError(fmt::format("there is no verb `{}{}`{}; there are: {}", group.empty() ? "" : group + " ", word,
                               near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), joined(known)));
}

// The verb that the arguments begin with, and where its own begin. Empty: none is named.
std::string find_verb(const std::vector<Verb>& verbs, const std::vector<std::string>& arguments, std::size_t& first) {
  first = 0;
  if (arguments.empty() || arguments[0].starts_with('-')) return {};
  const std::vector<std::string> top = names_below(verbs, "");
  if (std::find(top.begin(), top.end(), arguments[0]) == top.end()) unknown_verb(arguments[0], top, "");
  first = 1;
  const std::vector<std::string> below = names_below(verbs, arguments[0]);
  if (below.empty() || arguments.size() < 2 || arguments[1].starts_with('-')) return arguments[0];
  if (std::find(below.begin(), below.end(), arguments[1]) == below.end()) unknown_verb(arguments[1], below, arguments[0]);
  first = 2;
  return arguments[0] + " " + arguments[1];
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

// CLI11 would report what is left over without the flag it resembles, and only after complaining about flags that are missing.
void require_known_flags(const CLI::App& app, const std::string& verb, const std::vector<std::string>& arguments, std::size_t first) {
  for (std::size_t i = first; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") return;
    if (word.size() < 2 || word[0] != '-') continue;
    const std::size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    const CLI::Option* option = app.get_option_no_throw(flag);
    const std::string whose = verb.empty() ? "kiln" : "kiln " + verb;
    if (option == nullptr) {
      const std::string near = nearest(flag, flags_of(app));
      throw UsageError(fmt::format("`{}` has no flag {}{}; `{} --help` lists them", whose, flag,
                                   near.empty() ? "" : fmt::format(" (did you mean {}?)", near), whose));
    }
    const bool takes_value = option->get_expected_min() > 0;
    if (!takes_value || equals != std::string::npos) continue;
    if (i + 1 >= arguments.size()) throw UsageError(fmt::format("{} needs a value: {} {}", flag, flag, option->get_option_text()));
    ++i;
  }
}

bool wants_help(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

void parse(Tree& tree, const std::string& verb, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
  try {
    tree.root.parse(reversed);
  } catch (const CLI::ExtrasError& error) {
    throw UsageError(fmt::format("`kiln {}` does not take that: {}", verb, error.what()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("`kiln {}`: {}", verb, error.what()));
  }
}

}  // namespace

std::string help_page(const std::vector<Verb>& verbs, const std::string& name) {
  const std::unique_ptr<Tree> tree = make_tree(verbs);
  if (name.empty()) return tree->root.help();
  const std::size_t blank = name.find(' ');
  return tree->apps.at(name)->help(blank == std::string::npos ? "kiln" : "kiln " + name.substr(0, blank));
}

std::string as_typed(const std::vector<std::string>& arguments, const std::string& program) {
  std::string text = program;
  for (const std::string& word : arguments) {
    const bool is_plain =
        !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%") == std::string::npos;
    if (is_plain) {
      text += " " + word;
      continue;
    }
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += " '" + quoted + "'";
  }
  return text;
}

Asked understand(const std::vector<Verb>& verbs, const std::vector<std::string>& arguments, const std::string& db_from_environment) {
  std::size_t first = 0;
  const std::string verb = find_verb(verbs, arguments, first);
  const std::shared_ptr<Tree> tree = make_tree(verbs);
  if (wants_help(arguments) || arguments.empty()) return {help_page(verbs, verb), {}, {}};
  const auto action = tree->actions.find(verb);
  if (action == tree->actions.end() && !verb.empty())
    throw UsageError(fmt::format("`kiln {}` needs a verb: {}", verb, joined(names_below(verbs, verb))));
  require_known_flags(verb.empty() ? tree->root : *tree->apps.at(verb), verb, arguments, first);
  parse(*tree, verb, arguments);
  if (tree->version) return {std::string(kVersion) + "\n", {}, {}};
  if (verb.empty()) throw UsageError("a verb is needed: " + joined(names_below(verbs, "")));
  Common common = *tree->common;
  common.command = as_typed(arguments);
  if (common.db.empty()) common.db = db_from_environment.empty() ? "kiln.db" : db_from_environment;
  // The action's flags live in the tree.
  return {"", [tree, run = action->second](const Common& given) { return run(given); }, std::move(common)};
}

}  // namespace kiln::autotune::cli
