#include "autotune/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

constexpr auto kUnkillable = std::chrono::seconds(30);

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Everything the child needs between fork and exec, made before the fork: only async-signal-safe calls are allowed there.
struct Start {
  const char* program = nullptr;
  char* const* argv = nullptr;
  int socket = -1, output = -1, input = -1, shared = -1, failure = -1;
  rlim_t address_space = RLIM_INFINITY;
  pid_t parent = 0;
};

[[noreturn]] void give_up(int failure_fd) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure_fd, &reason, sizeof reason);
  ::_exit(127);
}

// Moves the descriptors out of the way of 0..4 first, so that none is overwritten before it is used.
void take_descriptors(Start& start) {
  constexpr int kClear = 16;
  for (int* fd : {&start.socket, &start.output, &start.input, &start.shared, &start.failure}) {
    if (*fd < 0) continue;
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, kClear);
    if (*fd < 0) ::_exit(127);
  }
  if (::dup2(start.input, 0) < 0 || ::dup2(start.output, 1) < 0 || ::dup2(start.output, 2) < 0 || ::dup2(start.socket, 3) < 0) give_up(start.failure);
  if (start.shared >= 0 && ::dup2(start.shared, 4) < 0) give_up(start.failure);
  const int first_other = start.shared >= 0 ? 5 : 4;
  // The failure pipe closes itself at exec. Everything else of ours, the store's files among them, ends here.
  if (::close_range(static_cast<unsigned>(first_other), static_cast<unsigned>(start.failure) - 1, 0) != 0) give_up(start.failure);
  ::close_range(static_cast<unsigned>(start.failure) + 1, ~0U, 0);
}

[[noreturn]] void become(Start start) {
  ::setpgid(0, 0);
  // The signal comes when the thread that forked ends; that thread lives as long as the Child.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
  if (start.address_space != RLIM_INFINITY) {
    const rlimit limit{start.address_space, start.address_space};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  const rlimit no_core{0, 0};  // crashes are expected here; a core file each would fill the disk
  ::setrlimit(RLIMIT_CORE, &no_core);
  take_descriptors(start);
  ::execv(start.program, start.argv);
  give_up(start.failure);
}

void make_pipe(Fd& read_end, Fd& write_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw EnvironmentError(fmt::format("a pipe cannot be made: {}", std::strerror(errno)));
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
}

}  // namespace

std::string Exit::describe() const {
  switch (kind) {
    case Kind::exited: return fmt::format("exit code {}", code);
    case Kind::signalled: {
      const char* name = ::sigabbrev_np(signal);
      return name != nullptr ? fmt::format("signal {} (SIG{})", signal, name) : fmt::format("signal {}", signal);
    }
    case Kind::timed_out: return fmt::format("time-out: {:.1f} s of {:.1f} s", spent_s, limit_s);
    case Kind::unkillable: return fmt::format("still alive {} s after SIGKILL", kUnkillable.count());
  }
  return "";
}

std::string tail_for_message(const std::string& log) {
  constexpr int kLines = 10;
  constexpr std::size_t kBytes = 2000;
  std::size_t end = log.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  std::size_t start = ++end;
  for (int lines = 0; start > 0 && end - start < kBytes; --start)
    if (log[start - 1] == '\n' && ++lines == kLines) break;
  return "; its last output:\n" + log.substr(start, end - start);
}

Clock::time_point seconds_from_now(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Child::Impl {
  pid_t pid = -1;
  Channel channel{-1};
  Fd output, stop{::eventfd(0, EFD_CLOEXEC)};
  std::thread watcher;
  std::optional<Exit> exit;

  mutable std::mutex mutex;
  mutable std::condition_variable drained_changed;
  std::string text;
  bool drained = false;

  explicit Impl(int socket) : channel(socket) {}

  // Starts the child, tells its pid or errno, then drains the output until `stop`.
  void watch(Start start, int failure_read, std::promise<std::pair<pid_t, int>>& started) {
    start.parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) become(start);
    const int fork_reason = errno;
    ::close(start.failure);
    if (child < 0) {
      started.set_value({-1, fork_reason});
      return;
    }
    ::setpgid(child, child);
    int reason = 0;
    ssize_t got = 0;
    do got = ::read(failure_read, &reason, sizeof reason);
    while (got < 0 && errno == EINTR);
    started.set_value({child, got == sizeof reason ? reason : 0});
    drain();
  }

  void drain() {
    bool open = true;
    while (true) {
      std::array<pollfd, 2> waiting{pollfd{stop.get(), POLLIN, 0}, pollfd{open ? output.get() : -1, POLLIN, 0}};
      if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
      if (waiting[1].revents != 0) open = take_output();
      if (waiting[0].revents != 0) return;
    }
  }

  bool take_output() {
    char chunk[32768];
    const ssize_t got = ::read(output.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) return true;
    const std::lock_guard lock(mutex);
    if (got <= 0) {
      drained = true;
      drained_changed.notify_all();
      return false;
    }
    text.append(chunk, static_cast<std::size_t>(got));
    if (text.size() > 2 * kLogBytes) text.erase(0, text.size() - kLogBytes);
    return true;
  }

  // The last words of a child that has ended are in the pipe: give the thread a moment to take them.
  void wait_for_output() {
    std::unique_lock lock(mutex);
    drained_changed.wait_for(lock, std::chrono::milliseconds(500), [this] { return drained; });
  }

  void reap() {
    ::kill(-pid, SIGKILL);  // what it left behind in its group, before the number can be given to another
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    exit = Exit{};
    if (WIFSIGNALED(status)) {
      exit->kind = Exit::Kind::signalled;
      exit->signal = WTERMSIG(status);
    } else {
      exit->code = WEXITSTATUS(status);
    }
    wait_for_output();
  }

  bool has_ended() const {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid;
  }
};

Child::Child(const Launch& launch) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw EnvironmentError(fmt::format("a socket cannot be made: {}", std::strerror(errno)));
  impl_ = std::make_unique<Impl>(sockets[0]);
  const Fd theirs(sockets[1]), input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd output_write, failure_read, failure_write;
  make_pipe(impl_->output, output_write);
  make_pipe(failure_read, failure_write);

  std::vector<std::string> words{launch.program};
  words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  Start start;
  start.program = words[0].c_str();
  start.argv = argv.data();
  start.socket = theirs.get();
  start.output = output_write.get();
  start.input = input.get();
  start.shared = launch.shared_fd;
  start.failure = failure_write.release();  // the thread closes it
  if (kLimitsAddressSpace && launch.address_space_bytes > 0) start.address_space = static_cast<rlim_t>(launch.address_space_bytes);

  std::promise<std::pair<pid_t, int>> started;
  auto answer = started.get_future();
  impl_->watcher = std::thread([impl = impl_.get(), start, fd = failure_read.get(), &started] { impl->watch(start, fd, started); });
  const auto [pid, reason] = answer.get();
  impl_->pid = pid;
  if (reason == 0) return;
  if (pid > 0) impl_->reap();
  [[maybe_unused]] const int told = ::eventfd_write(impl_->stop.get(), 1);
  impl_->watcher.join();
  throw EnvironmentError(fmt::format("process {} cannot be started: {}", launch.program, std::strerror(reason)));
}

Child::~Child() {
  kill();
  [[maybe_unused]] const int told = ::eventfd_write(impl_->stop.get(), 1);
  impl_->watcher.join();
}

pid_t Child::pid() const { return impl_->pid; }
Channel& Child::channel() { return impl_->channel; }

std::string Child::log() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->text.size() <= kLogBytes ? impl_->text : impl_->text.substr(impl_->text.size() - kLogBytes);
}

void Child::clear_log() {
  const std::lock_guard lock(impl_->mutex);
  impl_->text.clear();
}

std::optional<Exit> Child::poll_exit() {
  if (!impl_->exit && impl_->has_ended()) impl_->reap();
  return impl_->exit;
}

Exit Child::kill() {
  if (const std::optional<Exit> exit = poll_exit()) return *exit;
  ::kill(-impl_->pid, SIGKILL);
  const auto deadline = Clock::now() + kUnkillable;
  while (!impl_->has_ended()) {
    if (Clock::now() > deadline) {
      impl_->exit = Exit{.kind = Exit::Kind::unkillable};
      return *impl_->exit;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  impl_->reap();
  return *impl_->exit;
}

Exit Child::kill_at_limit(double limit_s, double spent_s) {
  Exit exit = kill();
  if (exit.kind != Exit::Kind::unkillable) exit.kind = Exit::Kind::timed_out;
  exit.limit_s = limit_s;
  exit.spent_s = spent_s;
  impl_->exit = exit;
  return exit;
}

Exit Child::finish(std::chrono::milliseconds patience) {
  impl_->channel.close();
  const auto deadline = Clock::now() + patience;
  while (Clock::now() < deadline) {
    if (const std::optional<Exit> exit = poll_exit()) return *exit;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return kill();
}

}  // namespace kiln::autotune
