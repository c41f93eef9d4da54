// A worker that misbehaves on request. `fake_worker MODE` does one thing; `fake_worker --role=R` speaks the protocol of that role and takes what to
// do from the request: the schedule of a build, the name of a generator, the symbol of a measured object.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "autotune/measure/measure_messages.h"
#include "autotune/measure/shared_page.h"
#include "autotune/process/messages.h"
#include "dsl/error.h"

namespace {

using namespace kiln;
using namespace kiln::autotune;

[[noreturn]] void hang() {
  while (true) ::pause();
}

[[noreturn]] void print_without_end() {
  const std::string line(1000, 'x');
  while (true) std::puts(line.c_str());
}

void allocate_without_end() {
  while (true) {
    constexpr std::size_t kBlock = std::size_t{16} << 20;
    void* memory = std::malloc(kBlock);
    if (memory == nullptr) std::abort();
    std::memset(memory, 1, kBlock);
  }
}

void write_garbage() {
  const char garbage[] = "\x01not json\n";
  [[maybe_unused]] const ssize_t written = ::write(3, garbage, sizeof garbage - 1);
  hang();
}

// The words that every role understands. False: none of them.
bool misbehave(const std::string& word) {
  if (word == "crash") ::raise(SIGSEGV);
  if (word == "abort") {
    std::puts("LLVM ERROR: out of registers");
    std::fflush(stdout);
    std::abort();
  }
  if (word == "hang") hang();
  if (word == "print") print_without_end();
  if (word == "allocate") allocate_without_end();
  if (word == "exit") std::_Exit(3);
  if (word == "leave") std::_Exit(0);
  if (word == "garbage") write_garbage();
  return false;
}

// Appends a line to the file that the word "log=PATH" names: how tests count what was begun.
void note(const std::string& path, const std::string& line) { std::ofstream(path, std::ios::app) << line << "\n"; }

void serve_compile(Channel& channel) {
  std::optional<Objects> objects;
  while (true) {
    const Channel::Received received = channel.receive(Clock::time_point::max());
    if (received.status != Channel::Status::message) return;
    const Message& request = received.message;
    if (request.kind == "hello") {
      objects.emplace(request.body.at("cache").get<std::string>());
      channel.send({request.sequence, "ready", Json::object()});
      continue;
    }
    const auto schedule = request.body.at("schedule").get<std::string>();
    note(objects->folder() / "begun", schedule);
    misbehave(schedule);
    if (schedule.starts_with("sleep ")) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(schedule.c_str() + 6)));
    // Killed from outside, but only the first time: a file remembers.
    if (schedule == "killed once" && ::access((objects->folder() / "killed").c_str(), F_OK) != 0) {
      note(objects->folder() / "killed", "once");
      ::raise(SIGKILL);
    }
    if (schedule == "killed always") ::raise(SIGKILL);
    if (schedule == "disk full") {
      channel.send({request.sequence, "error", error_to_json(DataError("objects/ab.o cannot be written: No space left on device"))});
      continue;
    }
    generators::Build build;
    build.log = std::to_string(::getpid());
    const ObjectRef object{objects->put_object("object of " + schedule), "f", "x86-64"};
    channel.send({request.sequence, "built", {{"build", to_json(build)}, {"object", to_json(object)}}});
  }
}

void serve_reader(Channel& channel) {
  while (true) {
    const Channel::Received received = channel.receive(Clock::time_point::max());
    if (received.status != Channel::Status::message) return;
    const Message& request = received.message;
    if (request.kind == "load") {
      const auto library = request.body.at("library").get<std::string>();
      misbehave(library);
      if (library == "missing") channel.send({request.sequence, "error", error_to_json(UsageError("missing: cannot open shared object file"))});
      else channel.send({request.sequence, "loaded", Json::object()});
      continue;
    }
    if (request.kind == "generators") {
      channel.send({request.sequence, "generators", {{"names", {"blur", "matmul"}}}});
      continue;
    }
    const auto generator = request.body.at("generator").get<std::string>();
    misbehave(generator);
    Algorithm algorithm;
    algorithm.generator = generator;
    const char* kind = request.kind == "read" ? "algorithm" : "signature";
    channel.send({request.sequence, kind, {{kind, kiln::to_json(algorithm)}}});
  }
}

// Candidates run in the order of their entries; what each does is its symbol.
class FakeMeasuring {
 public:
  explicit FakeMeasuring(Channel& channel) : channel_(channel), page_(map_shared_page(4)) {}

  void serve() {
    while (true) {
      const Channel::Received received = channel_.receive(Clock::time_point::max());
      if (received.status != Channel::Status::message) return;
      sequence_ = received.message.sequence;
      answer(received.message.kind, received.message.body);
    }
  }

 private:
  void send(const std::string& kind, Json body) { channel_.send({sequence_, kind, std::move(body)}); }

  void answer(const std::string& kind, const Json& body) {
    if (kind == "hello") return send("ready", Json::object());
    if (kind == "health") {
      send("health", {{"complaint", ""}});
    } else if (kind == "prepare") {
      prepared_ = body.at("key").get<std::string>();
      const auto reference = body.at("reference").at("symbol").get<std::string>();
      misbehave(reference);
      die_from_outside(reference);
      send("prepared", to_json(Prepared{prepared_, true, {}, "", 0}));
    } else if (body.at("key").get<std::string>() != prepared_) {
      send("unprepared", Json::object());
    } else if (kind == "check") {
      run(candidate_from_json(body.at("candidate")));
      CheckOutcome outcome;
      outcome.call_ns = 42;
      send("checked", to_json(outcome));
    } else if (kind == "race") {
      race(body);
    }
    send("end", Json::object());
  }

  void race(const Json& body) {
    for (const Json& json : body.at("entries")) {
      const Candidate candidate = race_entry_from_json(json).candidate;
      run(candidate);
      RaceResult result;
      result.id = candidate.id;
      result.value_ns = 100;
      if (candidate.object.symbol == "fails") result.rejection = generators::Rejection{generators::Reason::run_error, {}, {}, "no such luck"};
      if (candidate.object.symbol != "untold") send("result", to_json(result));
    }
  }

  void run(const Candidate& candidate) {
    page_.candidate = candidate.id + 1;
    page_.call_started_ns = monotonic_ns();
    misbehave(candidate.object.symbol);
    die_from_outside(candidate.object.symbol);
    if (candidate.object.symbol == "waits for stop")
      while (page_.stop == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    page_.call_started_ns = 0;
    page_.candidate = 0;
  }

  // "killed once PATH": only the first time, a file remembers.
  static void die_from_outside(const std::string& symbol) {
    if (symbol == "killed always") ::raise(SIGKILL);
    if (!symbol.starts_with("killed once ")) return;
    const std::string path = symbol.substr(12);
    if (::access(path.c_str(), F_OK) == 0) return;
    note(path, "once");
    ::raise(SIGKILL);
  }

  Channel& channel_;
  SharedPage& page_;
  std::int64_t sequence_ = 0;
  std::string prepared_;
};

void echo(Channel& channel) {
  while (true) {
    const Channel::Received received = channel.receive(Clock::time_point::max());
    if (received.status != Channel::Status::message) return;
    channel.send(received.message);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  misbehave(mode);
  if (mode == "say") {
    std::puts(argv[2]);
    return std::atoi(argv[3]);
  }
  if (mode == "grandchild") {  // leaves a process of its group behind that would stay for ever
    const pid_t grandchild = ::fork();
    if (grandchild == 0) hang();
    std::printf("%d\n", grandchild);
    return 0;
  }
  if (mode == "group") {
    std::printf("pid %d group %d stdin %s\n", ::getpid(), ::getpgid(0), std::getchar() == EOF ? "empty" : "open");
    int open = 0;
    for (int fd = 3; fd < 1024; ++fd) open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    std::printf("descriptors %d\n", open);
    return 0;
  }
  Channel channel(3);
  if (mode == "echo") echo(channel);
  if (mode == "--role=compile") serve_compile(channel);
  if (mode == "--role=reader") serve_reader(channel);
  if (mode == "--role=measure") FakeMeasuring(channel).serve();
  if (mode == "--role=none") return 9;
  return 0;
}
