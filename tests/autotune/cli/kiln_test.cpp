// The program from outside: exit codes, streams, documents.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_kiln.h"
#include "tests/autotune/cli/tuned_store.h"

namespace kiln::autotune::cli {
namespace {

using Json = nlohmann::json;

class Kiln : public ::testing::Test {
 protected:
  Said run(const std::vector<std::string>& arguments) { return run_kiln(folder_, arguments); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_.file(name)) << text; }
  db::TemporaryFolder folder_;
};

TEST_F(Kiln, help_goes_to_stdout_and_is_no_error) {
  const Said said = run({"--help"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err, "");
  EXPECT_NE(said.out.find("Exit codes: 0 done"), std::string::npos);
  EXPECT_EQ(run({}).out, said.out);
}

TEST_F(Kiln, usage_errors_are_2_and_go_to_stderr) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"tnue"}, {"best", "--fro"}, {"tune", "matmul", "--for", "8x"}, {"list", "kernels"}, {"explain"}}) {
    const Said said = run(arguments);
    EXPECT_EQ(said.code, 2) << arguments[0];
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(said.err.substr(0, 6), "kiln: ");
  }
}

TEST_F(Kiln, a_store_that_is_none_is_4) {
  EXPECT_EQ(run({"status"}).code, 4);
  EXPECT_EQ(run({"status"}).err, "kiln: there is no store kiln.db; `kiln tune` creates one, --db names another\n");
  write("notes.txt", "nothing of SQLite in here, but long enough to be looked at\n");
  EXPECT_EQ(run({"best", "--db", "notes.txt"}).err,
            "kiln: notes.txt is not a Kiln store: it does not begin as a SQLite file; name another file with --db\n");
  EXPECT_EQ(run({"best", "--db", "notes.txt"}).code, 4);
  EXPECT_EQ(run({"best", "--db", "nowhere/kiln.db"}).err, "kiln: cannot open nowhere/kiln.db: there is no folder nowhere; create it or name another file with --db\n");
}

TEST_F(Kiln, demand_is_imported_once_and_shown) {
  write("calls.txt", "# application ffn\n8000 matmul(m=256, n=1024, k=1024)\n1 matmul(m=1536, n=1024, k=1024)\n");
  const Said first = run({"demand", "import", "calls.txt"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out.substr(0, first.out.find(", import")), "calls.txt: 8,001 calls of 2 problems");
  EXPECT_NE(run({"demand", "import", "calls.txt"}).out.find("imported before"), std::string::npos);
  const Json page = Json::parse(run({"demand", "show", "--json"}).out);
  EXPECT_EQ(page["problems"][0]["calls"], 8000);
  EXPECT_EQ(page["imports"].size(), 1u);
}

TEST_F(Kiln, a_bad_demand_line_is_2_with_its_place_and_nothing_is_kept) {
  write("calls.txt", "8000 matmul(m=256)\n12 matmul m=3\n");
  const Said said = run({"demand", "import", "calls.txt"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.err, "kiln: calls.txt:2: `matmul m=3` is no problem; a problem is `operator(symbol=extent, …)`\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("kiln.db")));
  EXPECT_EQ(run({"demand", "import", "absent.txt"}).err, "kiln: cannot read 'absent.txt': No such file or directory\n");
  EXPECT_EQ(run({"demand", "import", "absent.txt"}).code, 2);
}

TEST_F(Kiln, tune_refuses_what_it_cannot_read_before_it_starts) {
  write("calls.txt", "12 matmul(m=)\n");
  EXPECT_EQ(run({"tune", "--demand", "calls.txt", "--for", "10s"}).err, "kiln: calls.txt:1: problem, column 10: expected a value after 'm=', found ')'\n");
  EXPECT_EQ(run({"tune", "--demand", "absent.txt", "--for", "10s"}).err, "kiln: cannot read 'absent.txt': No such file or directory\n");
  EXPECT_EQ(run({"tune", "matmul", "--problem", "matmul", "--for", "10s"}).err, "kiln: problem, column 7: expected '(' after 'matmul', found the end of the text\n");
  EXPECT_EQ(run({"tune", "matmul", "--try", ".", "--for", "10s"}).err, "kiln: cannot read '.': it is a folder\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("kiln.db")));
}

TEST_F(Kiln, every_page_of_a_store_is_a_document_on_request) {
  { TunedStore tuned(folder_.file("kiln.db")); }
  for (const std::vector<std::string>& verb :
       // choose comes last: no sample has an object, which `db check` rightly misses once a choice needs it.
       {std::vector<std::string>{"status"}, {"best"}, {"report"}, {"demand", "show"}, {"db", "check"}, {"db", "vacuum"}, {"choose"}}) {
    std::vector<std::string> arguments = verb;
    arguments.push_back("--json");
    const Said said = run(arguments);
    EXPECT_EQ(said.code, 0) << verb.back() << said.err << said.out;
    EXPECT_TRUE(Json::accept(said.out)) << verb.back() << said.out;
    EXPECT_EQ(run(verb).code, 0) << verb.back();
  }
}

TEST_F(Kiln, results_leave_in_other_formats) {
  { TunedStore tuned(folder_.file("kiln.db")); }
  for (const char* format : {"t4", "google-benchmark", "chrome-trace"}) EXPECT_TRUE(Json::accept(run({"db", "export", "--format", format}).out)) << format;
  const Said csv = run({"db", "export", "--format", "csv"});
  EXPECT_EQ(csv.code, 0);
  EXPECT_GT(std::count(csv.out.begin(), csv.out.end(), '\n'), 5);
}

TEST_F(Kiln, status_works_while_another_process_writes) {
  TunedStore tuned(folder_.file("kiln.db"));
  auto writing = tuned.sample->transaction("record a batch in");
  tuned.sample.ok_trial(tuned.run, "y.vectorize(n, 4)");
  const Said during = run({"status", "--json"});
  EXPECT_EQ(during.code, 0) << during.err;
  const auto tried = [](const Said& said) {
    int sum = 0;
    const Json page = Json::parse(said.out);
    for (const Json& problem : page["problems"]) sum += problem["tried"].get<int>();
    return sum;
  };
  const int before = tried(during);
  EXPECT_GT(before, 0) << during.out;
  writing.commit();
  EXPECT_EQ(tried(run({"status", "--json"})), before + 1);
}

TEST_F(Kiln, merging_tells_what_came) {
  { TunedStore tuned(folder_.file("other.db")); }
  { db::SampleStore mine(folder_.file("kiln.db")); }
  const Said said = run({"db", "merge", "other.db"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("runs: 0 own, 1 foreign; foreign results are hints that cannot be chosen (--trust adopts them)"), std::string::npos) << said.out;
  EXPECT_EQ(run({"db", "merge", "absent.db"}).code, 4);
}

// A baseline of a CPU is none of a GPU's.
TEST_F(Kiln, replay_measures_against_a_baseline_of_the_same_kind_of_device) {
  { TunedStore tuned(folder_.file("kiln.db")); }
  const Json best = Json::parse(run({"best", "--json"}).out);
  const auto row = std::find_if(best.begin(), best.end(), [](const Json& one) { return one["candidate"].is_string(); });
  ASSERT_NE(row, best.end());
  const std::string problem = (*row)["problem"];
  const Said said = run({"replay", (*row)["candidate"].get<std::string>(), "--problem", problem, "--device", "cuda:0"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.err, "kiln: no race of " + problem + " on a GPU names a baseline to measure against; `kiln tune` holds one\n");
  EXPECT_EQ(run({"replay", (*row)["candidate"].get<std::string>(), "--device", "gpu"}).code, 2);
}

TEST_F(Kiln, doctor_knows_this_machine) {
  const Said said = run({"doctor", "--json"});
  ASSERT_TRUE(said.code == 0 || said.code == 3) << said.err;
  const Json page = Json::parse(said.out);
  EXPECT_EQ(page["missing"].empty(), said.code == 0);
  EXPECT_EQ(page["halide"]["version"], "21.0.0");
  EXPECT_NE(page["halide"]["path"].get<std::string>().find("libHalide"), std::string::npos);
  EXPECT_TRUE(page["nvrtc"].is_null() || page["nvrtc"]["path"].get<std::string>().find("libnvrtc") != std::string::npos);
  EXPECT_GT(page["device"]["cores"], 0);
  EXPECT_EQ(page["target"].get<std::string>().substr(0, 7), "x86-64-");
}

TEST_F(Kiln, operators_spaces_and_devices_are_listed) {
  const Json operators = Json::parse(run({"list", "operators", "--json"}).out);
  std::vector<std::string> names;
  for (const Json& one : operators) names.push_back(one["operator"]);
  for (const char* name : {"matmul", "matvec", "rmsnorm", "softmax", "swiglu", "swiglu_quant", "transpose"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_FALSE(Json::parse(run({"list", "spaces", "--json"}).out).empty());
  const Json devices = Json::parse(run({"list", "devices", "--json"}).out);
  EXPECT_TRUE(devices[0]["here"]);
  EXPECT_EQ(devices[0]["kind"], "cpu");
  EXPECT_EQ(std::count_if(devices.begin(), devices.end(), [](const Json& one) { return one["kind"] == "gpu"; }), 3);
  EXPECT_NE(run({"list", "devices"}).out.find("NVIDIA H200"), std::string::npos);
  const Said absent = run({"list", "operators", "--load", "./absent.so"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_NE(absent.err.find("absent.so"), std::string::npos);
}

TEST_F(Kiln, a_schedule_file_is_explained_without_a_store) {
  write("plain.sched", "# no directive: everything inline\n");
  const Said said = run({"explain", "--schedule", "plain.sched", "--problem", "matmul(m=8, n=16, k=32)", "--json"});
  ASSERT_EQ(said.code, 0) << said.err << said.out;
  const Json page = Json::parse(said.out);
  EXPECT_EQ(page["operator"], "matmul");
  EXPECT_GE(page["predicted"]["flops"], 2 * 8 * 16 * 32);
  EXPECT_GT(page["actual"]["code_bytes"], 0);
  EXPECT_TRUE(page["binds"].is_string());
  EXPECT_FALSE(std::filesystem::exists(folder_.file("kiln.db")));
}

TEST_F(Kiln, a_schedule_is_explained_for_a_gpu_that_is_older_than_hopper) {
  write("rows.sched", "y.rows(1, 256).vector(8)\n");
  const std::vector<std::string> explain = {"explain", "--problem", "swiglu(m=64, n=4096, bf16)", "--device", "sm_80", "--text", "--schedule"};
  const auto explained = [&](const std::string& file) {
    std::vector<std::string> arguments = explain;
    arguments.push_back(file);
    return run(arguments);
  };
  const Said said = explained("rows.sched");
  ASSERT_EQ(said.code, 0) << said.err << said.out;
  EXPECT_NE(said.out.find("swiglu_y  compiled "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("__launch_bounds__(256) swiglu_y("), std::string::npos) << said.out;
  write("hopper.sched", "y.rows(1, 256).vector(8).dependent_launch()\n");
  const Said refused = explained("hopper.sched");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.out.find("rejected: schedule_error\n  y: dependent_launch() is for devices of compute capability 9.0 and newer, and this one has 8.0: leave it out\n"),
            std::string::npos) << refused.out << refused.err;
}

TEST_F(Kiln, an_illegal_schedule_is_a_negative_answer_with_its_text) {
  write("bad.sched", "nobody.parallel(m)\n");
  const Said said = run({"explain", "--schedule", "bad.sched", "--problem", "matmul(m=8, n=16, k=32)"});
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_NE(said.out.find("rejected: schedule_error\n"), std::string::npos) << said.out;
  write("torn.sched", "y.parallel(\n");
  const Said torn = run({"explain", "--schedule", "torn.sched", "--problem", "matmul(m=8, n=16, k=32)"});
  EXPECT_EQ(torn.code, 2);
  EXPECT_EQ(torn.err.substr(0, 61), "kiln: while reading schedule file 'torn.sched', line 1, colum") << torn.err;
}

}  // namespace
}  // namespace kiln::autotune::cli
