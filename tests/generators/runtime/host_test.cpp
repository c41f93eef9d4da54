// The runtime without any Halide: the functions its objects call, called here by hand. Runs under the thread sanitizer too.
#include "generators/runtime/host.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
using Task = int (*)(void* user_context, int index, std::uint8_t* closure);
int halide_do_par_for(void* user_context, Task task, int min, int count, std::uint8_t* closure);
void* halide_malloc(void* user_context, std::size_t bytes);
void halide_free(void* user_context, void* memory);
int halide_error_access_out_of_bounds(void*, const char*, int, int, int, int, int);
int halide_error_bad_type(void*, const char*, std::uint32_t, std::uint32_t);
int halide_error_bad_dimensions(void*, const char*, std::int32_t, std::int32_t);
int halide_error_buffer_argument_is_null(void*, const char*);
int halide_error_constraint_violated(void*, const char*, int, const char*, int);
int halide_error_explicit_bounds_too_small(void*, const char*, const char*, int, int, int, int);
int halide_error_param_too_small_f64(void*, const char*, double, double);
int halide_error_requirement_failed(void*, const char*, const char*);
int halide_error_specialize_fail(void*, const char*);
int halide_error_fold_factor_too_small(void*, const char*, const char*, int, const char*, int);
char* halide_string_to_string(char* at, char* end, const char* text);
char* halide_int64_to_string(char* at, char* end, std::int64_t value, int digits);
char* halide_uint64_to_string(char* at, char* end, std::uint64_t value, int digits);
char* halide_double_to_string(char* at, char* end, double value, int scientific);
char* halide_pointer_to_string(char* at, char* end, const void* pointer);
}

namespace {

// The pool for as long as a test runs.
struct Pool {
  explicit Pool(int threads) { EXPECT_EQ(kiln_host_start(threads), KILN_HOST_OK); }
  ~Pool() { kiln_host_stop(); }
};

std::uint8_t* closure(void* value) { return static_cast<std::uint8_t*>(value); }

int mark(void*, int index, std::uint8_t* marks) {
  reinterpret_cast<std::atomic<int>*>(marks)[index].fetch_add(1);
  return 0;
}

int outer(void* context, int index, std::uint8_t* marks) {
  return halide_do_par_for(context, mark, 10 * index, 10, marks);
}

int fail_at_seven(void*, int index, std::uint8_t*) { return index == 7 ? halide_error_bad_dimensions(nullptr, "Input buffer A", 3, 2) : 0; }

void expect_each_once(const std::vector<std::atomic<int>>& marks) {
  for (std::size_t i = 0; i < marks.size(); ++i) ASSERT_EQ(marks[i].load(), 1) << "iteration " << i;
}

TEST(host_threads, a_loop_runs_each_iteration_once_with_or_without_a_pool) {
  std::vector<std::atomic<int>> alone(1000);
  EXPECT_EQ(halide_do_par_for(nullptr, mark, 0, 1000, closure(alone.data())), 0);
  expect_each_once(alone);
  for (const int threads : {1, 2, 5}) {
    const Pool pool(threads);
    EXPECT_EQ(kiln_host_threads(), threads);
    std::vector<std::atomic<int>> marks(1000);
    EXPECT_EQ(halide_do_par_for(nullptr, mark, 0, 1000, closure(marks.data())), 0);
    expect_each_once(marks);
  }
}

TEST(host_threads, a_loop_starts_at_its_minimum_and_an_empty_one_runs_nothing) {
  const Pool pool(3);
  std::vector<std::atomic<int>> marks(10);
  EXPECT_EQ(halide_do_par_for(nullptr, mark, 4, 6, closure(marks.data())), 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(marks[static_cast<std::size_t>(i)].load(), i < 4 ? 0 : 1);
  EXPECT_EQ(halide_do_par_for(nullptr, mark, 0, 0, closure(marks.data())), 0);
  EXPECT_EQ(halide_do_par_for(nullptr, mark, 0, -1, closure(marks.data())), 0);
}

TEST(host_threads, loops_inside_loops_and_many_callers_at_once_end) {
  const Pool pool(4);
  std::vector<std::thread> callers;
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([] {
      for (int round = 0; round < 20; ++round) {
        std::vector<std::atomic<int>> marks(100);
        EXPECT_EQ(halide_do_par_for(nullptr, outer, 0, 10, closure(marks.data())), 0);
        expect_each_once(marks);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(host_threads, more_loops_than_slots_still_run) {
  const Pool pool(3);
  std::vector<std::thread> callers;
  for (int c = 0; c < 100; ++c) {  // up to 200 loops are open, and there are 64 slots
    callers.emplace_back([] {
      std::vector<std::atomic<int>> marks(100);
      EXPECT_EQ(halide_do_par_for(nullptr, outer, 0, 10, closure(marks.data())), 0);
      expect_each_once(marks);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(host_threads, a_sleeping_pool_wakes_up) {
  const Pool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than workers stay awake
    std::vector<std::atomic<int>> marks(64);
    EXPECT_EQ(halide_do_par_for(nullptr, mark, 0, 64, closure(marks.data())), 0);
    expect_each_once(marks);
  }
}

// Where a worker may run, as it sees it from within a loop.
struct Seen {
  std::thread::id caller;
  std::atomic<int> workers{0};
  cpu_set_t allowed{};
};

int look_around(void*, int, std::uint8_t* seen_by_workers) {
  auto& seen = *reinterpret_cast<Seen*>(seen_by_workers);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough for the others to come
  if (std::this_thread::get_id() != seen.caller && seen.workers.fetch_add(1) == 0)
    pthread_getaffinity_np(pthread_self(), sizeof seen.allowed, &seen.allowed);
  return 0;
}

TEST(host_threads, workers_keep_off_the_callers_processor) {
  cpu_set_t all;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "this machine lends us one processor only";
  const Pool pool(2);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof here, &here), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the workers sleep, and may be steered again
    Seen seen{.caller = std::this_thread::get_id()};
    for (int tries = 0; tries < 100 && seen.workers == 0; ++tries) EXPECT_EQ(halide_do_par_for(nullptr, look_around, 0, 8, closure(&seen)), 0);
    ASSERT_GT(seen.workers, 0);
    EXPECT_FALSE(CPU_ISSET(cpu, &seen.allowed)) << "processor " << cpu;
    EXPECT_EQ(CPU_COUNT(&seen.allowed), CPU_COUNT(&all) - 1);
  }
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

// Opens loops of its own, longer apart than workers may be steered again, then looks where it may run.
int look_around_after_loops_within(void*, int index, std::uint8_t* seen_by_workers) {
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::vector<std::atomic<int>> marks(64);
    halide_do_par_for(nullptr, mark, 0, 64, closure(marks.data()));
  }
  return look_around(nullptr, index, seen_by_workers);
}

TEST(host_threads, a_workers_own_loops_leave_it_off_the_callers_processor) {
  cpu_set_t all;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "this machine lends us one processor only";
  const Pool pool(2);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(cpu, &here);
  ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof here, &here), 0);
  Seen seen{.caller = std::this_thread::get_id()};
  for (int tries = 0; tries < 100 && seen.workers == 0; ++tries)
    EXPECT_EQ(halide_do_par_for(nullptr, look_around_after_loops_within, 0, 4, closure(&seen)), 0);
  ASSERT_GT(seen.workers, 0);
  EXPECT_FALSE(CPU_ISSET(cpu, &seen.allowed));
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

// What the threads did of a loop inside a loop.
struct Shared {
  std::thread::id caller;
  std::atomic<bool> by_worker{false};     // a worker ran an iteration of the outer loop
  std::atomic<int> of_caller{0};          // iterations of the inner loop
};

int count_the_callers(void*, int, std::uint8_t* shared_by_all) {
  auto& shared = *reinterpret_cast<Shared*>(shared_by_all);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (std::this_thread::get_id() == shared.caller) ++shared.of_caller;
  return 0;
}

int open_a_loop_when_worker(void*, int, std::uint8_t* shared_by_all) {
  auto& shared = *reinterpret_cast<Shared*>(shared_by_all);
  if (std::this_thread::get_id() == shared.caller) return std::this_thread::sleep_for(std::chrono::milliseconds(1)), 0;  // long enough for a worker to come
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // by then the caller waits, and sleeps
  shared.by_worker = true;
  return halide_do_par_for(nullptr, count_the_callers, 0, 40, closure(&shared));
}

TEST(host_threads, a_caller_that_waits_helps_with_the_loops_inside_its_own) {
  const Pool pool(2);
  Shared shared{.caller = std::this_thread::get_id()};
  for (int tries = 0; tries < 100 && !shared.by_worker; ++tries) EXPECT_EQ(halide_do_par_for(nullptr, open_a_loop_when_worker, 0, 2, closure(&shared)), 0);
  ASSERT_TRUE(shared.by_worker);
  EXPECT_GT(shared.of_caller, 0);
}

TEST(host_threads, the_failure_of_a_worker_reaches_the_caller_with_its_text) {
  const Pool pool(4);
  for (int round = 0; round < 50; ++round) {
    kiln_host_clear_error();
    EXPECT_EQ(halide_do_par_for(nullptr, fail_at_seven, 0, 64, nullptr), -43);
    EXPECT_STREQ(kiln_host_error_text(), "Input buffer A has 3 dimensions, the kernel was built for 2");
  }
}

TEST(host_threads, a_second_start_and_an_impossible_number_are_refused) {
  EXPECT_EQ(kiln_host_start(0), KILN_HOST_NO_THREAD);
  EXPECT_STREQ(kiln_host_error_text(), "0 threads asked for; 1 to 1024 are possible");
  const Pool pool(2);
  EXPECT_EQ(kiln_host_start(3), KILN_HOST_RUNNING);
  EXPECT_STREQ(kiln_host_error_text(), "the thread pool is already running with 2 threads");
}

int own_loop(void* user, int count, int (*body)(void*, int), void* argument) {
  static_cast<std::atomic<int>*>(user)->fetch_add(1);
  int code = 0;
  for (int i = count - 1; i >= 0; --i) {
    if (const int failed = body(argument, i)) code = failed;
  }
  return code;
}

TEST(host_threads, the_applications_own_loop_takes_the_place_of_the_pool) {
  std::atomic<int> calls{0};
  ASSERT_EQ(kiln_host_start_with(own_loop, &calls), KILN_HOST_OK);
  EXPECT_EQ(kiln_host_threads(), 0);
  std::vector<std::atomic<int>> marks(100);
  EXPECT_EQ(halide_do_par_for(nullptr, mark, 0, 100, closure(marks.data())), 0);
  expect_each_once(marks);
  EXPECT_EQ(calls.load(), 1);
  EXPECT_EQ(halide_do_par_for(nullptr, fail_at_seven, 0, 64, nullptr), -43);
  EXPECT_STREQ(kiln_host_error_text(), "Input buffer A has 3 dimensions, the kernel was built for 2");
  kiln_host_stop();
  EXPECT_EQ(kiln_host_threads(), 1);
}

TEST(host_scratch, memory_is_aligned_and_comes_back_to_the_next_call) {
  for (const std::size_t bytes : {1u, 64u, 65u, 1000u, 4096u, 100000u, 33554433u}) {
    void* first = halide_malloc(nullptr, bytes);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0u);
    std::memset(first, 1, bytes);
    halide_free(nullptr, first);
    EXPECT_EQ(halide_malloc(nullptr, bytes), first) << bytes << " bytes";
    halide_free(nullptr, first);
  }
  kiln_host_trim_scratch();
  EXPECT_EQ(kiln_host_scratch_bytes(), 0u);
}

TEST(host_scratch, the_second_round_of_the_same_sizes_takes_nothing_from_the_system) {
  const auto round = [] {
    std::vector<void*> blocks;
    for (std::size_t i = 1; i <= 40; ++i) blocks.push_back(halide_malloc(nullptr, 777 * i));
    for (void* block : blocks) halide_free(nullptr, block);
  };
  round();
  const std::size_t after_one = kiln_host_scratch_bytes();
  round();
  EXPECT_EQ(kiln_host_scratch_bytes(), after_one);
  EXPECT_LE(after_one, 777u * 820 * 5 / 4 + 40 * 192);  // at most a quarter unused, and the headers
  kiln_host_trim_scratch();
}

TEST(host_scratch, blocks_of_many_threads_do_not_overlap) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 300; ++round) {
        const std::size_t bytes = static_cast<std::size_t>(64 * (1 + round % 7));
        auto* a = static_cast<std::uint8_t*>(halide_malloc(nullptr, bytes));
        auto* b = static_cast<std::uint8_t*>(halide_malloc(nullptr, bytes));
        std::memset(a, t, bytes);
        std::memset(b, t + 100, bytes);
        for (std::size_t i = 0; i < bytes; ++i) {
          ASSERT_EQ(a[i], t);
          ASSERT_EQ(b[i], t + 100);
        }
        halide_free(nullptr, b);
        halide_free(nullptr, a);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  kiln_host_trim_scratch();
  EXPECT_EQ(kiln_host_scratch_bytes(), 0u);
}

TEST(host_scratch, what_cannot_be_had_is_null) { EXPECT_EQ(halide_malloc(nullptr, std::size_t{1} << 60), nullptr); }

TEST(host_errors, each_becomes_halides_code_and_a_sentence_with_both_numbers) {
  const auto text = [](int code) { return std::to_string(code) + " " + kiln_host_error_text(); };
  constexpr std::uint32_t kFloat32Bits = 2 | 32 << 8 | 1 << 16, kInt16Bits = 0 | 16 << 8 | 1 << 16;
  EXPECT_EQ(text(halide_error_access_out_of_bounds(nullptr, "Input buffer A", 1, 0, 11, 0, 9)),
            "-4 Input buffer A is accessed at 11, dimension 1 of the buffer holds 0 to 9");
  EXPECT_EQ(text(halide_error_access_out_of_bounds(nullptr, "Input buffer A", 0, -3, 5, 0, 9)),
            "-4 Input buffer A is accessed at -3, dimension 0 of the buffer holds 0 to 9");
  EXPECT_EQ(text(halide_error_bad_type(nullptr, "Input buffer A", kInt16Bits, kFloat32Bits)),
            "-3 Input buffer A has type int16, the kernel was built for float32");
  EXPECT_EQ(text(halide_error_buffer_argument_is_null(nullptr, "A")), "-12 A is NULL");
  EXPECT_EQ(text(halide_error_constraint_violated(nullptr, "A.stride.0", 2, "1", 1)), "-8 A.stride.0 is 2, the kernel was built for 1 = 1");
  EXPECT_EQ(text(halide_error_explicit_bounds_too_small(nullptr, "C", "n", 0, 1023, 0, 1099)),
            "-2 C: bounds given for n are 0 to 1023, the region needed is 0 to 1099");
  EXPECT_EQ(text(halide_error_param_too_small_f64(nullptr, "s", 0.5, 1.0)), "-9 s is 0.5, the least value is 1");
  EXPECT_EQ(text(halide_error_requirement_failed(nullptr, "false", "k must be positive, found 0\n")),
            "-27 the algorithm does not allow this call: k must be positive, found 0");
  EXPECT_EQ(text(halide_error_specialize_fail(nullptr, "only for even n")), "-31 no specialisation of the schedule applies: only for even n");
  EXPECT_EQ(text(halide_error_fold_factor_too_small(nullptr, "p", "y", 4, "yo", 6)), "-26 p is folded along y by 4, loop yo needs 6");
}

TEST(host_errors, words_of_a_requirement_are_put_together_from_values) {
  char words[96];
  char* const end = words + sizeof words;
  char* at = halide_string_to_string(words, end, "k is ");
  at = halide_int64_to_string(at, end, -7, 1);
  at = halide_string_to_string(at, end, ", n is ");
  at = halide_uint64_to_string(at, end, 42, 3);
  at = halide_string_to_string(at, end, ", eps is ");
  at = halide_double_to_string(at, end, 0.25, 0);
  at = halide_string_to_string(at, end, " or ");
  at = halide_double_to_string(at, end, 0.25, 1);
  at = halide_string_to_string(at, end, " at ");
  at = halide_pointer_to_string(at, end, reinterpret_cast<const void*>(std::uintptr_t{0x10}));
  EXPECT_STREQ(words, "k is -7, n is 042, eps is 0.250000 or 2.500000e-01 at 0x10");
  EXPECT_EQ(at, words + std::strlen(words));
}

TEST(host_errors, words_that_do_not_fit_are_cut) {
  char words[8] = "#######";
  char* at = halide_string_to_string(words, words + 4, "even");
  EXPECT_STREQ(words, "eve");
  at = halide_int64_to_string(at, words + 4, 2, 1);
  EXPECT_EQ(at, words + 3);
  EXPECT_STREQ(words, "eve");
  EXPECT_EQ(words[4], '#');
}

TEST(host_errors, belong_to_the_thread_that_failed) {
  kiln_host_clear_error();
  std::thread([] { halide_error_buffer_argument_is_null(nullptr, "B"); }).join();
  EXPECT_EQ(kiln_host_error_code(), 0);
  EXPECT_STREQ(kiln_host_error_text(), "");
}

}  // namespace
