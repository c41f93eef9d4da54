// Planned here, measured there, chosen here: the programs as a user starts them, over a driver whose GPU computes swiglu on the CPU.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "tests/program/stored.h"
#include "tests/support/run_kiln.h"

namespace kiln::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProblem = "swiglu(m=24, n=512)";

// What a shell's command prints.
std::string said_by(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  char chunk[4096];
  for (std::size_t got = 0; (got = std::fread(chunk, 1, sizeof chunk, pipe)) > 0;) text.append(chunk, got);
  ::pclose(pipe);
  return text;
}

// One bundle of the smallest problem, made once: every test takes a copy of home and bundle.
class Bundle : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_in_ = new db::TemporaryFolder;
    made_ = run_kiln(*made_in_, {"bundle", "swiglu", "--problem", "swiglu(m=24, n=512)", "--device", "h200", "-o", "there", "--candidates", "8"});
  }
  static void TearDownTestSuite() { delete made_in_; }

  void SetUp() override {
    ASSERT_EQ(made_.code, 0) << made_.err;
    fs::copy(made_in_->path(), folder_.path(), fs::copy_options::recursive);
  }
  void TearDown() override { come_home(); }

  // On a machine with a GPU and nothing else: neither `ld` nor a compiler is in the PATH.
  static void go_there() {
    ::setenv("LD_LIBRARY_PATH", KILN_BINARY_DIR "/fake_gpu", 1);
    ::setenv("PATH", "/nowhere", 1);
  }
  static void come_home() {
    for (const char* name : {"LD_LIBRARY_PATH", "KILN_FAKE_WRONG", "KILN_FAKE_CRASH", "KILN_FAKE_HANG", "KILN_FAKE_ARCH"}) ::unsetenv(name);
    ::setenv("PATH", path_.c_str(), 1);
  }
  Said measure() { return run_program(folder_, folder_.file("there/measure"), {"--for", "60s", "--wait"}); }
  std::string store() const { return folder_.file("there/bundle.db"); }
  std::string home() const { return folder_.file("kiln.db"); }

  db::TemporaryFolder folder_;
  static inline const std::string path_ = std::getenv("PATH");
  static db::TemporaryFolder* made_in_;
  static Said made_;
};
db::TemporaryFolder* Bundle::made_in_ = nullptr;
Said Bundle::made_;

constexpr const char* kOkOfDevice =
    "SELECT count(DISTINCT schedule_id) FROM trial JOIN run USING (run_id) WHERE outcome = 'ok' AND json_extract(options, '$.bundle') IS NOT NULL";

TEST_F(Bundle, says_what_it_packed_and_what_to_do_with_it) {
  EXPECT_EQ(made_.out.substr(0, made_.out.find("there: ")), std::string(kProblem) + ": 8 candidates packed of 8 tried; rejected: none\n");
  EXPECT_NE(made_.out.find("On the machine with the GPU: there/measure; then here: kiln db merge there/bundle.db\n"), std::string::npos) << made_.out;
}

TEST_F(Bundle, is_a_store_a_program_and_a_text) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.file("there"))) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"README", "bundle.db", "measure"}));
  EXPECT_EQ(count(store(), "SELECT count(*) FROM trial WHERE outcome = 'ok'"), 8);
  EXPECT_EQ(count(store(), "SELECT count(*) FROM trial JOIN build USING (build_id) JOIN artifact ON hash = binary_hash WHERE kind = 'cubin'"), 8);
  EXPECT_EQ(count(store(), "SELECT count(*) FROM artifact WHERE kind = 'object'"), 1);  // the reference
  EXPECT_EQ(count(store(), "SELECT count(*) FROM artifact WHERE kind = 'algorithm'"), 1);
  EXPECT_EQ(count(home(), "SELECT count(*) FROM trial WHERE outcome = 'ok'"), 8);
  EXPECT_EQ(run_kiln(folder_, {"db", "check"}).code, 0);
  EXPECT_EQ(run_kiln(folder_, {"db", "check", "--db", store()}).code, 0);
  EXPECT_LT(fs::file_size(folder_.file("there/measure")), std::uintmax_t{10} << 20);
}

TEST_F(Bundle, its_program_needs_the_c_library_alone) {
  const std::string needed = said_by("readelf -d " + folder_.file("there/measure") + " | grep NEEDED | sed 's/.*\\[\\(.*\\)\\]/\\1/' | sort | tr '\\n' ' '");
  EXPECT_EQ(needed, "ld-linux-x86-64.so.2 libc.so.6 libm.so.6 ");
}

TEST_F(Bundle, without_a_driver_says_so_and_loses_nothing) {
  const std::set<std::string> before = committed_results(store());
  const Said said = measure();
  if (said.code == 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "kiln: no CUDA driver: libcuda.so.1: cannot open shared object file: No such file or directory; it comes with NVIDIA's driver for "
                      "the GPU\n");
  EXPECT_EQ(committed_results(store()), before);
}

TEST_F(Bundle, on_another_architecture_says_what_it_is_for) {
  go_there();
  ::setenv("KILN_FAKE_ARCH", "80", 1);
  const Said said = measure();
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.err, "kiln: cuda:0 is NVIDIA H200 (sm_80); the kernels of " + folder_.file("there") +
                          " are for sm_90a, as NVIDIA H200 is: --device takes another GPU of this machine, `kiln bundle --device` makes kernels for others\n");
}

TEST_F(Bundle, what_was_planned_here_and_measured_there_is_chosen_here) {
  go_there();
  const Said there = measure();
  come_home();
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_NE(there.out.find(kProblem), std::string::npos) << there.out;
  EXPECT_NE(there.err.find("kiln: where the bundle was made: kiln db merge " + store()), std::string::npos) << there.err;
  EXPECT_EQ(count(store(), kOkOfDevice), 8);
  EXPECT_EQ(count(store(), "SELECT count(*) FROM race WHERE stage = 'final'"), 2);

  EXPECT_EQ(count(home(), "SELECT count(*) FROM choice"), 0);
  const Said merged = run_kiln(folder_, {"db", "merge", "there/bundle.db"});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(count(home(), "SELECT count(*) FROM run WHERE origin = 'own'"), 2);
  EXPECT_EQ(count(home(), kOkOfDevice), 8);
  EXPECT_EQ(count(home(), "SELECT count(*) FROM artifact WHERE kind = 'object'"), 0);
  EXPECT_EQ(run_kiln(folder_, {"db", "check"}).code, 0);
  const Said chosen = run_kiln(folder_, {"choose"});
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_EQ(count(home(), "SELECT count(*) FROM choice WHERE trial_id IS NOT NULL"), 1) << chosen.out;
  EXPECT_NE(run_kiln(folder_, {"best"}).out.find("500 µs"), std::string::npos);  // what the driver says that everything takes
  const std::set<std::string> after = committed_results(home());
  EXPECT_EQ(run_kiln(folder_, {"db", "merge", "there/bundle.db"}).code, 0);
  EXPECT_EQ(committed_results(home()), after);
}

TEST_F(Bundle, its_candidates_are_looked_at_on_its_gpu) {
  db::Store store(home());
  db::Statement packed = store.connection().query("SELECT lower(hex(s.digest)) FROM trial t JOIN schedule s USING (schedule_id) LIMIT 1");
  ASSERT_TRUE(packed.step());
  const std::string candidate = packed.text(0).substr(0, 12);
  const Said explained = run_kiln(folder_, {"explain", candidate});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_EQ(explained.out.find(std::string(kProblem) + "\ncandidate " + candidate + " on NVIDIA H200\n"), 0u) << explained.out;
  EXPECT_NE(explained.out.find("arguments             "), std::string::npos) << explained.out;
  const Said on_a_cpu = run_kiln(folder_, {"explain", candidate, "--device", "cpu"});
  EXPECT_EQ(on_a_cpu.code, 1);
  EXPECT_NE(on_a_cpu.out.find("only the CUDA back end runs it"), std::string::npos) << on_a_cpu.out;
  const Said replayed = run_kiln(folder_, {"replay", candidate});
  EXPECT_EQ(replayed.code, 2);
  EXPECT_EQ(replayed.err, "kiln: candidate " + candidate + " was tried on NVIDIA H200, not on a CPU, and is measured on the device itself: --device cuda:0, where there is one\n");
}

TEST_F(Bundle, elsewhere_its_results_are_hints) {
  go_there();
  ASSERT_EQ(measure().code, 0);
  come_home();
  ASSERT_EQ(run_kiln(folder_, {"db", "merge", "there/bundle.db", "--db", "other.db"}).code, 0);
  EXPECT_EQ(count(folder_.file("other.db"), "SELECT count(*) FROM run WHERE origin = 'foreign'"), 2);
  EXPECT_EQ(count(folder_.file("other.db"), "SELECT count(*) FROM run WHERE origin = 'own'"), 0);
}

TEST_F(Bundle, kernels_that_lie_or_crash_cost_themselves_and_are_not_packed_again) {
  go_there();
  ::setenv("KILN_FAKE_WRONG", "256", 1);
  ::setenv("KILN_FAKE_CRASH", "512", 1);
  const Said said = measure();
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_GT(count(store(), "SELECT count(*) FROM trial WHERE reason = 'wrong_result'"), 0);
  EXPECT_GT(count(store(), "SELECT count(*) FROM trial WHERE reason = 'worker_crash'"), 0);
  EXPECT_GT(count(store(), kOkOfDevice), 0);
  EXPECT_EQ(count(store(), "SELECT count(*) FROM trial WHERE state <> 'done'"), 0);

  come_home();
  ASSERT_EQ(run_kiln(folder_, {"db", "merge", "there/bundle.db"}).code, 0);
  const Said again = run_kiln(folder_, {"bundle", "swiglu", "--problem", "swiglu(m=24, n=512)", "--device", "h200", "-o", "again", "--candidates", "6"});
  ASSERT_EQ(again.code, 0) << again.err;
  db::Store home_store(home());
  db::Statement refused =
      home_store.connection().query("SELECT lower(hex(s.digest)) FROM trial t JOIN schedule s USING (schedule_id) WHERE t.reason IS NOT NULL");
  while (refused.step())
    EXPECT_EQ(count(folder_.file("again/bundle.db"), "SELECT count(*) FROM schedule WHERE lower(hex(digest)) = '" + refused.text(0) + "'"), 0);
}

// A compiler before the real one spoils some kernels' texts on their way into the emulator.
TEST_F(Bundle, what_the_emulator_finds_wrong_is_not_packed) {
  fs::create_directory(folder_.file("spoiling"));
  std::ofstream(folder_.file("spoiling/g++")) << R"(#!/bin/sh
for word in "$@"; do
  case $word in */entry.cpp)
    text="${word%/entry.cpp}/kernel.cu"
    grep -q ' 256 threads' "$text" && sed -i 's/(y + first, y_v)/(y + first + 4, y_v)/' "$text" ;;
  esac
done
PATH="${PATH#*:}" exec g++ "$@"
)";
  fs::permissions(folder_.file("spoiling/g++"), fs::perms::owner_all);
  fs::remove(home());  // nothing passed before
  ::setenv("PATH", (folder_.file("spoiling") + ":" + path_).c_str(), 1);
  const Said said = run_kiln(folder_, {"bundle", "swiglu", "--problem", "swiglu(m=24, n=512)", "--device", "h200", "-o", "some", "--candidates", "3"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("3 candidates packed of 5 tried; rejected: 2 emulator_fault\n"), std::string::npos) << said.out;
  EXPECT_EQ(count(home(), "SELECT count(*) FROM trial WHERE reason = 'emulator_fault' AND detail LIKE "
                          "'swiglu(m=24, n=512): swiglu_y: out of bounds: store_stream to 16 bytes of global memory at y+49152, which has 49152 bytes%'"), 2);
  EXPECT_EQ(count(folder_.file("some/bundle.db"), "SELECT count(*) FROM trial"), 3);
}

TEST_F(Bundle, killed_in_a_call_goes_on_where_it_was) {
  go_there();
  ::setenv("KILN_FAKE_HANG", "512", 1);
  {
    RunningKiln running(folder_, {"--for", "60s", "--wait"}, folder_.file("there/measure"));
    const auto is_in_a_call = [&] { return count(store(), "SELECT count(*) FROM trial WHERE state = 'running'") > 0 && count(store(), kOkOfDevice) > 0; };
    for (int looks = 0; looks < 600 && !is_in_a_call(); ++looks) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    running.signal(SIGKILL);
    EXPECT_EQ(running.wait().code, 128 + SIGKILL);
  }
  const std::set<std::string> before = committed_results(store());
  ::unsetenv("KILN_FAKE_HANG");
  const Said said = measure();
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.err.find("resuming after an interrupted run"), std::string::npos) << said.err;
  EXPECT_EQ(lost(before, committed_results(store())), std::vector<std::string>{});
  EXPECT_EQ(count(store(), kOkOfDevice), 8);
  const Said third = measure();
  EXPECT_EQ(third.code, 0) << third.err;
}

TEST_F(Bundle, packs_what_the_user_brings_after_the_baseline) {
  std::ofstream(folder_.file("mine.sched")) << "y.rows(1, 96).vector(2)\n";
  const Said said = run_kiln(folder_, {"bundle", "swiglu", "--problem", kProblem, "--device", "h200", "-o", "mine", "--candidates", "2", "--try", "mine.sched"});
  ASSERT_EQ(said.code, 0) << said.err;
  const std::string packed = folder_.file("mine/bundle.db");
  EXPECT_EQ(count(packed, "SELECT count(*) FROM trial"), 2);
  EXPECT_EQ(count(packed, "SELECT count(*) FROM trial JOIN schedule USING (schedule_id) WHERE origin = 'hand' AND text = 'y.rows(1, 96).vector(2)' || char(10)"), 1);

  std::ofstream(folder_.file("nobodys.sched")) << "z.rows(1, 96)\n";
  const Said illegal = run_kiln(folder_, {"bundle", "swiglu", "--problem", kProblem, "--device", "h200", "-o", "illegal", "--try", "nobodys.sched"});
  EXPECT_EQ(illegal.code, 2);
  EXPECT_EQ(illegal.err.substr(illegal.err.find("kiln: ")), "kiln: schedule file 'nobodys.sched' is legal for no problem of this run: swiglu(m=24, n=512): "
                                                           "`z.rows(1, 96)`: there is no stage 'z', did you mean 'y'; the stages of swiglu are g.in(), gate, u.in(), y\n");
  EXPECT_FALSE(fs::exists(folder_.file("illegal")));
}

// Rows of a fixed great length have no smaller problem.
TEST_F(Bundle, packs_what_is_too_large_for_the_emulator_and_says_so) {
  std::ofstream(folder_.file("long.sched")) << "y.rows(1, 1024).vector(8).fix(n)\n";
  const Said said =
      run_kiln(folder_, {"bundle", "swiglu", "--problem", "swiglu(m=64, n=81920)", "--device", "h200", "-o", "long", "--candidates", "2", "--try", "long.sched"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out.substr(0, said.out.find('\n')), "swiglu(m=64, n=81920): 2 candidates packed of 2 tried, 1 too large for the emulator; rejected: none");
  EXPECT_NE(said.err.find(" of swiglu(m=64, n=81920) is packed without having run in the emulator: the emulator takes 64 blocks, 16384 threads and 70000 elements: "
                          "every problem that its kernels take is larger\n"),
            std::string::npos) << said.err;
  EXPECT_EQ(count(folder_.file("long/bundle.db"), "SELECT count(*) FROM trial"), 2);
}

TEST_F(Bundle, refuses_what_it_cannot_do) {
  const auto err = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"bundle", "swiglu"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_kiln(folder_, all).err;
  };
  EXPECT_EQ(err({"-o", "new"}), "kiln: for which GPU? --device h200; `kiln list devices` shows those that are known\n");
  EXPECT_EQ(err({"--device", "h200"}), "kiln: where to? -o DIR\n");
  EXPECT_EQ(err({"--device", "zen4", "-o", "new"}), "kiln: --device zen4: a bundle is for a GPU; on a CPU `kiln tune` measures where it runs\n");
  EXPECT_EQ(err({"--device", "h200", "-o", "there"}),
            "kiln: -o there: it is there already, and may hold results: `kiln db merge there/bundle.db` takes them in; name another folder\n");
  EXPECT_EQ(err({"--device", "h200", "-o", "new", "--for", "1m", "--until", "07:00"}), "kiln: --for and --until exclude each other\n");
  EXPECT_EQ(err({"--device", "h200", "-o", "new", "--try", "nowhere.sched"}), "kiln: cannot read 'nowhere.sched': No such file or directory\n");
  EXPECT_EQ(err({"--device", "h200", "-o", "."}), "kiln: -o .: it is there already; name a folder that is not\n");
  const Said none = run_kiln(folder_, {"measure", "nowhere"});
  EXPECT_EQ(none.code, 4);
  EXPECT_EQ(none.err, "kiln: nowhere is no bundle: it holds no bundle.db; `kiln bundle -o DIR` makes bundles\n");
  EXPECT_EQ(run_kiln(folder_, {"measure"}).err, "kiln: `kiln measure` needs a DIR that `kiln bundle` made\n");
  EXPECT_EQ(run_kiln(folder_, {"measure", "there", "--db", "x.db"}).err, "kiln: --db: results of a bundle go to the store in its folder\n");
  EXPECT_EQ(run_kiln(folder_, {"measure", "there", "--device", "cpu"}).err, "kiln: --device cpu: a bundle is measured on a GPU: `cuda:0` and so on\n");
}

}  // namespace
}  // namespace kiln::tests
