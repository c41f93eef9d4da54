#include "autotune/process/child.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

Launch fake(std::vector<std::string> arguments) { return {.program = KILN_FAKE_WORKER, .arguments = std::move(arguments)}; }

Exit wait_for_exit(Child& child, double limit_s = 30) {
  const auto deadline = seconds_from_now(limit_s);
  while (Clock::now() < deadline) {
    if (const auto exit = child.poll_exit()) return *exit;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ADD_FAILURE() << "the child did not end";
  return child.kill();
}

bool is_alive(pid_t pid) {
  if (::kill(pid, 0) != 0) return false;
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  status >> number >> name >> state;
  return status && state != "Z";
}

TEST(Child, tells_a_clean_exit_with_what_it_printed) {
  Child child(fake({"say", "good morning", "0"}));
  const Exit exit = wait_for_exit(child);
  EXPECT_TRUE(exit.is_clean());
  EXPECT_EQ(exit.describe(), "exit code 0");
  EXPECT_EQ(child.log(), "good morning\n");
}

TEST(Child, tells_an_exit_code) {
  Child child(fake({"say", "no", "7"}));
  EXPECT_EQ(wait_for_exit(child).describe(), "exit code 7");
}

TEST(Child, tells_a_signal_by_number_and_name_and_keeps_the_last_words) {
  Child child(fake({"abort"}));
  EXPECT_EQ(wait_for_exit(child).describe(), "signal 6 (SIGABRT)");
  EXPECT_EQ(tail_for_message(child.log()), "; its last output:\nLLVM ERROR: out of registers");
}

TEST(Child, tells_a_time_out_with_both_numbers) {
  Child child(fake({"hang"}));
  const Exit exit = child.kill_at_limit(10, 12.06);
  EXPECT_EQ(exit.describe(), "time-out: 12.1 s of 10.0 s");
  EXPECT_EQ(child.poll_exit()->kind, Exit::Kind::timed_out);
}

TEST(Child, keeps_the_exit_of_a_child_that_ended_before_it_was_killed) {
  Child child(fake({"exit"}));
  wait_for_exit(child);
  EXPECT_EQ(child.kill().describe(), "exit code 3");
}

TEST(Child, that_prints_without_end_neither_blocks_nor_grows_the_log) {
  Child child(fake({"print"}));
  const auto deadline = seconds_from_now(20);
  while (child.log().size() < Child::kLogBytes && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(child.log().size(), Child::kLogBytes);
  EXPECT_FALSE(child.poll_exit());
  EXPECT_EQ(child.kill().signal, SIGKILL);
}

TEST(Child, that_allocates_without_end_meets_its_address_space_limit) {
  if (!kLimitsAddressSpace) GTEST_SKIP() << "a sanitizer needs the whole address space";
  Launch launch = fake({"allocate"});
  launch.address_space_bytes = std::int64_t{256} << 20;
  Child child(launch);
  EXPECT_EQ(wait_for_exit(child).describe(), "signal 6 (SIGABRT)");
}

TEST(Child, leads_a_group_of_its_own_without_stdin_and_without_our_descriptors) {
  const int ours = ::open("/dev/null", 0);  // without O_CLOEXEC, as a library might
  Child child(fake({"group"}));
  EXPECT_TRUE(wait_for_exit(child).is_clean());
  ::close(ours);
  const std::string pid = std::to_string(child.pid());
  EXPECT_EQ(child.log(), "pid " + pid + " group " + pid + " stdin empty\ndescriptors 1\n");
}

TEST(Child, takes_its_group_with_it) {
  Child child(fake({"grandchild"}));
  EXPECT_TRUE(wait_for_exit(child).is_clean());
  const pid_t grandchild = std::stoi(child.log());
  const auto deadline = seconds_from_now(10);
  while (is_alive(grandchild) && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(is_alive(grandchild));
}

TEST(Child, dies_with_the_process_that_started_it) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    Child child(fake({"hang"}));
    const pid_t pid = child.pid();
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &pid, sizeof pid);
    ::pause();
    ::_exit(0);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_TRUE(is_alive(child));
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
  const auto deadline = seconds_from_now(10);
  while (is_alive(child) && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(is_alive(child));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Child, that_cannot_be_started_is_an_error_of_the_environment) {
  try {
    Child child({.program = "/nowhere/kiln", .arguments = {}});
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "process /nowhere/kiln cannot be started: No such file or directory");
  }
}

TEST(Child, ends_when_its_socket_is_closed) {
  Child child(fake({"echo"}));
  EXPECT_TRUE(child.finish(std::chrono::seconds(20)).is_clean());
}

TEST(Channel, carries_messages_larger_than_the_sockets_buffer_both_ways) {
  Child child(fake({"echo"}));
  const Message message{7, "big", {{"text", std::string(std::size_t{3} << 20, 'a')}}};
  // The other end reads the whole line before it answers, so one thread can do both.
  ASSERT_TRUE(child.channel().send(message, seconds_from_now(30)));
  const auto received = child.channel().receive(seconds_from_now(30));
  ASSERT_EQ(received.status, Channel::Status::message);
  EXPECT_EQ(received.message.sequence, 7);
  EXPECT_EQ(received.message.body, message.body);
}

TEST(Channel, replaces_bytes_that_are_no_text) {
  Child child(fake({"echo"}));
  ASSERT_TRUE(child.channel().send({1, "log", {{"text", "a\xff"}}}, seconds_from_now(30)));
  EXPECT_EQ(child.channel().receive(seconds_from_now(30)).message.body.at("text"), "a\xEF\xBF\xBD");
}

TEST(Channel, shows_garbage_and_lives_on) {
  Child child(fake({"garbage"}));
  const auto received = child.channel().receive(seconds_from_now(30));
  EXPECT_EQ(received.status, Channel::Status::garbage);
  EXPECT_EQ(received.garbage, "\\x01not json");
  EXPECT_EQ(child.channel().receive(Clock::now()).status, Channel::Status::timeout);
}

TEST(Channel, tells_that_the_other_end_is_gone) {
  Child child(fake({"leave"}));
  EXPECT_EQ(child.channel().receive(seconds_from_now(30)).status, Channel::Status::closed);
  EXPECT_FALSE(child.channel().send({1, "hello", Json::object()}, seconds_from_now(1)));
}

TEST(Channel, gives_up_on_a_reader_that_does_not_read) {
  Child child(fake({"hang"}));
  const Message message{1, "big", {{"text", std::string(std::size_t{8} << 20, 'a')}}};
  EXPECT_FALSE(child.channel().send(message, Clock::now() + std::chrono::milliseconds(50)));
}

}  // namespace
}  // namespace kiln::autotune
