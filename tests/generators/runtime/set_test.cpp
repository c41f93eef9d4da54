// Checks, dispatch, counters and life of a set, over the hand-written one of small_set.c. Runs under the thread sanitizer too.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/generators/runtime/small_set.h"

namespace {

// A row-major matrix of floats that begins `shift` elements after a multiple of 64 bytes.
struct Matrix {
  std::vector<std::int64_t> shape, strides;
  std::vector<float> memory;
  DLTensor view = {};

  Matrix(std::int64_t height, std::int64_t width, int shift = 0) : shape{height, width}, strides{width, 1}, memory(static_cast<std::size_t>(height * width + 64)) {
    auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    view.data = reinterpret_cast<float*>((address + 63) / 64 * 64) + shift;
    view.device.device_type = kDLCPU;
    view.ndim = 2;
    view.dtype = {kDLFloat, 32, 1};
    view.shape = shape.data();
    view.strides = strides.data();
  }
  float& at(std::int64_t y, std::int64_t x) { return static_cast<float*>(view.data)[y * strides[0] + x]; }
};

class Set : public ::testing::Test {
 protected:
  void SetUp() override { load(KILN_FALLBACK_ALLOW); }
  void TearDown() override { EXPECT_EQ(small_unload(), 0); }

  static void load(int fallback) {
    small_opts options = {};
    options.size = sizeof options;
    options.threads = 3;
    options.fallback = fallback;
    ASSERT_EQ(small_load(&options), 0) << small_last_error();
  }
};

std::string plan_text(const DLTensor* x, const DLTensor* y) {
  small_plan plan;
  const int code = small_rows_plan(x, y, &plan);
  return code == 0 ? "variant " + std::to_string(plan.variant) : std::to_string(code) + " " + small_last_error();
}

TEST_F(Set, the_first_variant_whose_guard_and_bounds_hold_serves_the_call) {
  Matrix x(4, 8), y(4, 8);
  EXPECT_EQ(plan_text(&x.view, &y.view), "variant 0");
  Matrix shifted(4, 8, 1);
  EXPECT_EQ(plan_text(&shifted.view, &y.view), "variant 1");
  Matrix x2(5, 16), y2(5, 16), x3(5, 12), y3(5, 12), x4(17, 8), y4(17, 8);
  EXPECT_EQ(plan_text(&x2.view, &y2.view), "variant 1");
  EXPECT_EQ(plan_text(&x3.view, &y3.view), "variant 3");  // twelve is no multiple of eight: the bounds query says so
  EXPECT_EQ(plan_text(&x4.view, &y4.view), "variant 3");
}

TEST_F(Set, a_run_computes_on_all_threads_and_with_strides) {
  Matrix x(100, 40), y(100, 40);
  for (int r = 0; r < 100; ++r) {
    for (int c = 0; c < 40; ++c) x.at(r, c) = static_cast<float>(100 * r + c);
  }
  x.shape = {50, 20};
  y.shape = {50, 20};
  x.strides = {80, 1};  // every other row, half of its columns
  small_plan plan;
  ASSERT_EQ(small_rows_plan(&x.view, &y.view, &plan), 0) << small_last_error();
  ASSERT_EQ(small_rows_run(&plan, x.view.data, 0.5f, y.view.data), 0) << small_last_error();
  for (int r = 0; r < 50; ++r) {
    for (int c = 0; c < 20; ++c) ASSERT_EQ(y.at(r, c), static_cast<float>(200 * r + c) + 0.5f);
  }
}

TEST_F(Set, each_wrong_argument_has_its_code_and_sentence) {
  Matrix x(5, 6), y(5, 6);
  const auto with = [&](auto change) {
    Matrix changed(5, 6);
    change(changed);
    return plan_text(&changed.view, &y.view);
  };
  EXPECT_EQ(plan_text(nullptr, &y.view), "-1 rows: argument x is NULL");
  EXPECT_EQ(with([](Matrix& m) { m.view.data = nullptr; }), "-1 rows: argument x has no memory: data is NULL");
  EXPECT_EQ(with([](Matrix& m) { m.view.shape = nullptr; }), "-1 rows: argument x has no shape");
  EXPECT_EQ(with([](Matrix& m) { m.view.ndim = 3; }), "-2 rows: argument x has 3 dimensions, 2 are needed");
  EXPECT_EQ(with([](Matrix& m) { m.view.dtype = {kDLFloat, 64, 1}; }), "-3 rows: argument x has type f64, f32 is needed");
  EXPECT_EQ(with([](Matrix& m) { m.view.dtype = {kDLBool, 8, 1}; }), "-3 rows: argument x has type bool, f32 is needed");
  EXPECT_EQ(with([](Matrix& m) { m.view.dtype.lanes = 4; }), "-3 rows: argument x has elements of 4 lanes, 1 is needed");
  EXPECT_EQ(with([](Matrix& m) { m.view.device.device_type = kDLCUDA; }),
            "-4 rows: argument x is on cuda:0, cpu is needed");
  EXPECT_EQ(with([](Matrix& m) { m.shape[1] = 7; m.strides[0] = 7; }), "-6 rows: w is 7 in dimension 1 of x and 6 in dimension 1 of y");
  EXPECT_EQ(with([](Matrix& m) { m.shape[0] = -1; }), "-6 rows: dimension 0 of x has -1 elements, at least 0 are needed");
  EXPECT_EQ(with([](Matrix& m) { m.strides[1] = 2; }), "-7 rows: dimension 1 of x has stride 2, 1 is needed");
  EXPECT_EQ(with([](Matrix& m) { m.view.data = static_cast<char*>(m.view.data) + 2; }), "-8 rows: the address of x is 2 bytes past a multiple of 4");
  EXPECT_EQ(with([](Matrix& m) { m.view.byte_offset = 3; }), "-9 rows: byte_offset of x is 3, a multiple of its element size 4 is needed");
  EXPECT_EQ(with([](Matrix& m) { m.shape[0] = std::int64_t{1} << 40; }),
            "-11 rows: dimension 0 of x has extent 1099511627776 and stride 6, at most 2147483647 are possible");
  EXPECT_EQ(with([](Matrix& m) { m.strides[0] = 1 << 30; }), "-11 rows: argument x spans 17179869208 bytes, at most 2147483647 are possible");
}

TEST_F(Set, elements_of_an_output_stand_apart) {
  Matrix x(5, 6), y(5, 6);
  y.strides[0] = 5;
  EXPECT_EQ(plan_text(&x.view, &y.view), "-7 rows: dimension 0 of output y has stride 5, at least 6 is needed to keep its elements apart");
  x.strides[0] = 0;  // an input may repeat a row
  y.strides[0] = 6;
  EXPECT_EQ(plan_text(&x.view, &y.view), "variant 3");
}

TEST_F(Set, outputs_alias_inputs_only_as_the_same_view_of_a_pointwise_variant) {
  Matrix x(5, 6), wide(5, 8), y(5, 6);
  EXPECT_EQ(plan_text(&x.view, &x.view), "variant 3");
  DLTensor later = x.view;
  later.data = static_cast<float*>(x.view.data) + 6;
  EXPECT_EQ(plan_text(&x.view, &later), "-10 rows: output y overlaps argument x");
  small_plan plan;
  EXPECT_EQ(small_rows_plan_with(1, &wide.view, &wide.view, &plan), KILN_ERR_ALIAS);
  ASSERT_EQ(small_rows_plan(&x.view, &y.view, &plan), 0);
  EXPECT_EQ(small_rows_run(&plan, x.view.data, 1, later.data), KILN_ERR_ALIAS);
}

TEST_F(Set, a_run_checks_its_addresses_its_plan_and_its_kernel) {
  Matrix x(4, 8), y(4, 8), shifted(4, 8, 1);
  small_plan plan;
  ASSERT_EQ(small_rows_plan(&x.view, &y.view, &plan), 0);
  ASSERT_EQ(plan.variant, 0);
  EXPECT_EQ(small_rows_run(&plan, shifted.view.data, 1, y.view.data), KILN_ERR_ALIGN);
  EXPECT_STREQ(small_last_error(), "rows: the address of x is 4 bytes past a multiple of 32");
  EXPECT_EQ(small_rows_run(&plan, nullptr, 1, y.view.data), KILN_ERR_NULL_ARG);
  EXPECT_EQ(small_rows_run(nullptr, x.view.data, 1, y.view.data), KILN_ERR_NULL_ARG);
  EXPECT_STREQ(small_last_error(), "rows: plan is NULL");
  EXPECT_EQ(small_rows_run(&plan, x.view.data, -1, y.view.data), KILN_ERR_KERNEL);
  EXPECT_STREQ(small_last_error(), "rows: the kernel returned -27: s is -1, which this kernel does not like");
  small_plan blank = {};
  EXPECT_EQ(small_rows_run(&blank, x.view.data, 1, y.view.data), KILN_ERR_STALE_PLAN);
  EXPECT_STREQ(small_last_error(), "rows: the plan was not made by this function");
  ASSERT_EQ(small_unload(), 0);
  load(KILN_FALLBACK_ALLOW);
  EXPECT_EQ(small_rows_run(&plan, x.view.data, 1, y.view.data), KILN_ERR_STALE_PLAN);
  EXPECT_STREQ(small_last_error(), "rows: the plan was made before the set was unloaded");
}

TEST_F(Set, what_no_variant_serves_is_refused_with_the_reason) {
  Matrix x(5, 4), y(5, 4), x6(5, 6), y6(5, 6);
  small_plan plan;
  EXPECT_EQ(small_nowhere_plan(&x6.view, &y6.view, &plan), KILN_ERR_NO_VARIANT);
  EXPECT_STREQ(small_last_error(), "nowhere: no variant is built for h=5, w=6");
  EXPECT_EQ(small_rows_plan_with(2, &x.view, &y.view, &plan), KILN_ERR_NO_IMAGE);
  EXPECT_EQ(small_rows_plan_with(0, &x.view, &y.view, &plan), KILN_ERR_NO_VARIANT);
  EXPECT_STREQ(small_last_error(), "rows: the variant is not built for h=5, w=4");
  EXPECT_EQ(small_rows_plan_with(9, &x.view, &y.view, &plan), KILN_ERR_NO_VARIANT);
  EXPECT_STREQ(small_last_error(), "rows: variant 9 asked for, there are 4");
}

TEST_F(Set, empty_arguments_need_no_memory_and_do_nothing) {
  Matrix x(0, 6), y(0, 6);
  x.view.data = y.view.data = nullptr;
  small_plan plan;
  ASSERT_EQ(small_rows_plan(&x.view, &y.view, &plan), 0) << small_last_error();
  EXPECT_EQ(small_rows_run(&plan, nullptr, 1, nullptr), 0);
}

TEST_F(Set, supports_tells_the_tier_or_why_not) {
  const auto tier = [](std::int64_t h, std::int64_t w) {
    const std::array<std::int64_t, 2> extents = {h, w};
    return small_supports("rows", extents.data());
  };
  EXPECT_EQ(tier(4, 8), KILN_TIER_EXACT);
  EXPECT_EQ(tier(5, 16), KILN_TIER_BUCKET);
  EXPECT_EQ(tier(5, 12), KILN_TIER_GENERIC);
  EXPECT_EQ(tier(5, -2), KILN_ERR_RANGE);
  EXPECT_STREQ(small_last_error(), "rows: w is -2, 0 to 2147483647 are possible");
  EXPECT_EQ(small_supports("cols", nullptr), KILN_ERR_NO_VARIANT);
  EXPECT_STREQ(small_last_error(), "small: there is no entry cols");
}

TEST(set_load, an_unloaded_set_refuses_calls) {
  Matrix x(4, 8), y(4, 8);
  EXPECT_EQ(plan_text(&x.view, &y.view), "-20 rows: the set is not loaded");
  EXPECT_EQ(small_unload(), KILN_ERR_NOT_LOADED);
}

TEST(set_load, options_of_another_size_or_with_impossible_values_are_refused) {
  small_opts options = {};
  EXPECT_EQ(small_load(&options), KILN_ERR_ABI);
  EXPECT_STREQ(small_last_error(), "small: the options have 0 bytes, this library (ABI 1) knows 56");
  options.size = sizeof options;
  options.threads = -2;
  EXPECT_EQ(small_load(&options), KILN_ERR_THREADS);
  EXPECT_STREQ(small_last_error(), "small: -2 threads asked for, at least 1 is needed (0: as tuned)");
  options.threads = 5000;
  EXPECT_EQ(small_load(&options), KILN_ERR_THREADS);
  EXPECT_STREQ(small_last_error(), "small: 5000 threads asked for; 1 to 1024 are possible");
}

TEST(set_load, loads_nest) {
  ASSERT_EQ(small_load(nullptr), 0);
  ASSERT_EQ(small_load(nullptr), 0);
  EXPECT_EQ(small_unload(), 0);
  Matrix x(4, 8), y(4, 8);
  EXPECT_EQ(plan_text(&x.view, &y.view), "variant 0");
  EXPECT_EQ(small_unload(), 0);
}

TEST(set_load, fallback_can_be_told_once_or_refused) {
  std::vector<std::string> told;
  small_opts options = {};
  options.size = sizeof options;
  options.warn = [](void* user, const char* text) { static_cast<std::vector<std::string>*>(user)->push_back(text); };
  options.warn_user = &told;
  ASSERT_EQ(small_load(&options), 0);
  Matrix x(17, 8), y(17, 8), x4(4, 8), y4(4, 8);
  EXPECT_EQ(plan_text(&x4.view, &y4.view), "variant 0");
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(plan_text(&x.view, &y.view), "variant 3");
  EXPECT_EQ(plan_text(&x.view, &y.view), "variant 3");
  EXPECT_EQ(told, std::vector<std::string>{"rows: the generic variant serves h=17, w=8"});
  EXPECT_EQ(small_unload(), 0);
  options.fallback = KILN_FALLBACK_ERROR;
  ASSERT_EQ(small_load(&options), 0);
  EXPECT_EQ(plan_text(&x.view, &y.view), "-12 rows: only the generic variant is built, and fallback is an error, for h=17, w=8");
  EXPECT_EQ(small_unload(), 0);
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Counters live as long as the process: the expected counts are relative to a dump before.
std::uint64_t calls_in(const std::string& dump, const std::string& problem) {
  std::smatch found;
  return std::regex_search(dump, found, std::regex("(\\d+) " + problem)) ? std::stoull(found[1]) : 0;
}

TEST_F(Set, calls_of_eight_threads_are_all_counted_and_dumped_as_demand) {
  const std::string path = ::testing::TempDir() + "kiln_set_test_" + std::to_string(getpid()) + ".demand";
  const std::string exact = "rows\\(h=4, w=8, f32\\)", generic = "rows\\(h=23, w=9, f32\\)";
  ASSERT_EQ(small_dump_calls(path.c_str()), 0) << small_last_error();
  const std::string before = read(path);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      Matrix x(4, 8), y(4, 8), other(23, 9), out(23, 9);
      for (int i = 0; i < 50; ++i) {
        small_plan plan;
        ASSERT_EQ(small_rows_plan(&x.view, &y.view, &plan), 0);
        ASSERT_EQ(small_rows_run(&plan, x.view.data, 1, y.view.data), 0);
        ASSERT_EQ(small_rows_plan(&other.view, &out.view, &plan), 0);
        ASSERT_EQ(small_rows_run(&plan, other.view.data, 1, out.view.data), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(small_dump_calls(path.c_str()), 0) << small_last_error();
  const std::string after = read(path);
  EXPECT_EQ(calls_in(after, exact) - calls_in(before, exact), 400u);
  EXPECT_EQ(calls_in(after, generic) - calls_in(before, generic), 400u);
  EXPECT_TRUE(std::regex_search(after, std::regex("^# application small\n# window \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\n"
                                                  "# tier exact\n\\d+ rows\\(h=4, w=8, f32\\)\n")))
      << after;
  std::filesystem::remove(path);
}

TEST_F(Set, a_dump_that_cannot_be_written_says_why_and_leaves_nothing) {
  EXPECT_EQ(small_dump_calls("/nonexistent/folder/calls"), KILN_ERR_FILE);
  EXPECT_STREQ(small_last_error(), "small: call counts could not be written to /nonexistent/folder/calls: No such file or directory");
}

TEST_F(Set, shapes_beyond_the_table_are_counted_as_overflow) {
  const std::string path = ::testing::TempDir() + "kiln_set_test_overflow_" + std::to_string(getpid()) + ".demand";
  for (int width = 100; width < 1300; ++width) {
    Matrix x(1, width), y(1, width);
    small_plan plan;
    ASSERT_EQ(small_rows_plan(&x.view, &y.view, &plan), 0);
    ASSERT_EQ(small_rows_run(&plan, x.view.data, 1, y.view.data), 0);
  }
  ASSERT_EQ(small_dump_calls(path.c_str()), 0);
  const std::string dump = read(path);
  std::smatch overflow;
  ASSERT_TRUE(std::regex_search(dump, overflow, std::regex("# overflow (\\d+)\n$"))) << dump;
  const std::regex line("^\\d+ rows", std::regex::multiline);
  const auto shapes = std::distance(std::sregex_iterator(dump.begin(), dump.end(), line), std::sregex_iterator());
  EXPECT_LE(shapes, 1024);
  EXPECT_GE(std::stoll(overflow[1]), 1200 - 1024);
  std::filesystem::remove(path);
}

}  // namespace
