#include "autotune/cli/program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dsl/error.h"
#include "tests/autotune/cli/golden.h"
#include "tests/db/sample_store.h"

namespace kiln::autotune::cli {
namespace {

using db::message_of;

std::string usage_error(const std::vector<std::string>& arguments) {
  return message_of<UsageError>([&] {
    const Asked asked = understand(verbs(), arguments, "");
    if (asked.action) asked.action(asked.common);
  });
}

constexpr const char* kVerbList = "doctor, list, tune, status, best, choose, report, explain, replay, export, bundle, measure, demand, db";

TEST(Program, an_unknown_verb_names_the_nearest_and_all) {
  EXPECT_EQ(usage_error({"tun"}), std::string("there is no verb `tun` (did you mean `tune`?); there are: ") + kVerbList);
  EXPECT_EQ(usage_error({"zzzzzz"}), std::string("there is no verb `zzzzzz`; there are: ") + kVerbList);
  EXPECT_EQ(usage_error({"demand", "shw"}), "there is no verb `demand shw` (did you mean `show`?); there are: import, show");
  EXPECT_EQ(usage_error({"demand"}), "`kiln demand` needs a verb: import, show");
  EXPECT_EQ(usage_error({"db", "--json"}), "`kiln db` needs a verb: check, merge, export, vacuum");
}

TEST(Program, an_unknown_flag_names_the_nearest) {
  EXPECT_EQ(usage_error({"tune", "matmul", "--fr", "8h"}), "`kiln tune` has no flag --fr (did you mean --for?); `kiln tune --help` lists them");
  EXPECT_EQ(usage_error({"status", "--jsn"}), "`kiln status` has no flag --jsn (did you mean --json?); `kiln status --help` lists them");
  EXPECT_EQ(usage_error({"status", "--zzzzzzzz=3"}), "`kiln status` has no flag --zzzzzzzz; `kiln status --help` lists them");
  EXPECT_EQ(usage_error({"demand", "show", "--horizon", "1d"}), "`kiln demand show` has no flag --horizon; `kiln demand show --help` lists them");
  EXPECT_EQ(usage_error({"--jsn"}), "`kiln` has no flag --jsn; `kiln --help` lists them");
}

TEST(Program, a_flag_without_its_value_says_so) {
  EXPECT_EQ(usage_error({"tune", "matmul", "--for"}), "--for needs a value: --for TIME");
  EXPECT_EQ(usage_error({"best", "--db"}), "--db needs a value: --db FILE");
}

TEST(Program, words_that_belong_nowhere_are_refused) {
  EXPECT_EQ(usage_error({"status", "now"}), "`kiln status` does not take that: The following argument was not expected: now");
}

TEST(Program, tune_says_what_is_missing) {
  EXPECT_EQ(usage_error({"tune"}), "what? name an operator, a --problem or a --demand file; `kiln list operators` shows the operators");
  EXPECT_EQ(usage_error({"tune", "matmul"}), "how long? --for 8h, or --until 07:00");
  EXPECT_EQ(usage_error({"tune", "matmul", "--for", "8h", "--until", "07:00"}), "--for and --until exclude each other");
  EXPECT_EQ(usage_error({"tune", "matmul", "--for", "8h", "--cold", "--hot"}), "--cold and --hot exclude each other");
  EXPECT_EQ(usage_error({"tune", "matmul", "--for", "8h", "--device", "h200"}), "--device h200: what can be measured on is what is here: `cpu`, or `cuda:0` and so on");
  EXPECT_EQ(usage_error({"tune", "matmul", "--for", "8h", "--device", "cuda:x"}), "--device cuda:x: what can be measured on is what is here: `cpu`, or `cuda:0` and so on");
  EXPECT_EQ(usage_error({"tune", "matmul", "--for", "8 hours"}),
            "--for 8 hours: ` ` is no unit (d, h, m, s are); a duration is written as 90s, 10m, 8h or 1h30m");
}

TEST(Program, other_verbs_say_what_is_missing) {
  EXPECT_EQ(usage_error({"list"}), "`kiln list` needs to know what: operators, spaces or devices");
  EXPECT_EQ(usage_error({"list", "kernels"}), "`kiln list` knows operators, spaces and devices, not kernels");
  EXPECT_EQ(usage_error({"explain"}), "`kiln explain` needs a CANDIDATE of the store, or --schedule FILE with --problem P");
  EXPECT_EQ(usage_error({"explain", "--schedule", "x.sched"}), "--schedule needs --problem P: what is the schedule for?");
  EXPECT_EQ(usage_error({"replay"}), "`kiln replay` needs a CANDIDATE; `kiln best` lists the best ones");
  EXPECT_EQ(usage_error({"demand", "import"}), "`kiln demand import` needs a FILE");
  EXPECT_EQ(usage_error({"db", "merge"}), "`kiln db merge` needs a FILE");
  EXPECT_EQ(usage_error({"db", "export"}), "--format '': there are csv, t4, google-benchmark and chrome-trace");
  EXPECT_EQ(usage_error({"db", "export", "--format", "xml"}), "--format xml: there are csv, t4, google-benchmark and chrome-trace");
  EXPECT_EQ(usage_error({"choose", "--pin", "abcdef", "--ban", "abcdef"}), "--pin, --ban and --lift exclude each other");
  EXPECT_EQ(usage_error({"choose", "--why", "x"}), "--why belongs to --pin or --ban");
}

TEST(Program, the_store_comes_from_flag_then_environment_then_default) {
  EXPECT_EQ(understand(verbs(), {"best", "--db", "a.db"}, "b.db").common.db, "a.db");
  EXPECT_EQ(understand(verbs(), {"best"}, "b.db").common.db, "b.db");
  EXPECT_EQ(understand(verbs(), {"best"}, "").common.db, "kiln.db");
}

TEST(Program, common_flags_work_at_every_verb) {
  for (const Verb& verb : verbs()) {
    std::vector<std::string> arguments;
    const std::size_t blank = verb.name.find(' ');
    arguments.push_back(verb.name.substr(0, blank));
    if (blank != std::string::npos) arguments.push_back(verb.name.substr(blank + 1));
    for (const char* flag : {"--json", "--quiet", "--db=x.db"}) arguments.push_back(flag);
    const Asked asked = understand(verbs(), arguments, "");
    EXPECT_TRUE(asked.common.json && asked.common.quiet) << verb.name;
    EXPECT_EQ(asked.common.db, "x.db") << verb.name;
    EXPECT_TRUE(asked.action) << verb.name;
  }
}

TEST(Program, the_command_is_kept_as_a_shell_reads_it) {
  EXPECT_EQ(as_typed({"tune", "matmul", "--for", "8h"}), "kiln tune matmul --for 8h");
  EXPECT_EQ(as_typed({"tune", "--problem", "matmul(m=1, n=2)", "it's", ""}), "kiln tune --problem 'matmul(m=1, n=2)' 'it'\\''s' ''");
}

TEST(Program, nothing_at_all_asks_for_help) {
  EXPECT_EQ(understand(verbs(), {}, "").text, help_page(verbs(), ""));
  EXPECT_EQ(understand(verbs(), {"--help"}, "").text, help_page(verbs(), ""));
  EXPECT_EQ(understand(verbs(), {"tune", "--help"}, "").text, help_page(verbs(), "tune"));
  EXPECT_EQ(understand(verbs(), {"demand", "-h"}, "").text, help_page(verbs(), "demand"));
  EXPECT_EQ(understand(verbs(), {"--version"}, "").text.substr(0, 5), "kiln ");
}

TEST(Program, help_pages_are_as_they_were_reviewed) {
  expect_golden(help_page(verbs(), ""), "help/kiln.txt");
  expect_golden(help_page(verbs(), "demand"), "help/demand.txt");
  expect_golden(help_page(verbs(), "db"), "help/db.txt");
  for (const Verb& verb : verbs()) {
    std::string file = verb.name;
    std::replace(file.begin(), file.end(), ' ', '_');
    expect_golden(help_page(verbs(), verb.name), "help/" + file + ".txt");
  }
}

// A command of the help as a shell splits it, without the program's name and what is redirected.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool in_quotes = false;
  for (const char c : command.substr(0, command.find(" >"))) {
    if (c == '\'') in_quotes = !in_quotes;
    else if (c == ' ' && !in_quotes) words.emplace_back();
    else words.back() += c;
  }
  return {words.begin() + 1, words.end()};
}

TEST(Program, every_example_is_understood) {
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(understand(verbs(), words_of(verb.example), "").action) << verb.example;
    EXPECT_EQ(words_of(verb.example).front(), verb.name.substr(0, verb.name.find(' ')));
    EXPECT_NE(help_page(verbs(), verb.name).find("Example:\n  " + verb.example + "\n"), std::string::npos) << verb.name;
  }
}

}  // namespace
}  // namespace kiln::autotune::cli
