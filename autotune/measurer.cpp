#include "autotune/measurer.h"

#include <algorithm>
#include <csignal>
#include <set>

#include <fmt/format.h>

#include "autotune/measure/measure_messages.h"
#include "autotune/measure/shared_page.h"
#include "dsl/error.h"
#include "dsl/footprint_read.h"

namespace kiln::autotune {
namespace {

using generators::Reason;
using generators::Rejection;

constexpr double kListen_s = 0.1;        // between two looks at the page: seldom enough not to disturb samples
constexpr double kGrace_s = 30;          // a request's own work beside calls: loading objects, comparing, statistics
constexpr double kLoad_s = 5;            // one object: `ld` and dlopen take 20 ms on an idle machine
constexpr double kHealth_s = 20;
constexpr double kClocks_s = 120;        // four times some hundred calls, and buffers for them
constexpr int kFailedStarts = 3;

RaceResult rejected(std::int64_t id, const Rejection& rejection) {
  RaceResult result;
  result.id = id;
  result.rejection = rejection;
  return result;
}

}  // namespace

Subject subject_of(std::shared_ptr<const Algorithm> algorithm, const Problem& problem, const ObjectRef& reference, std::uint64_t seed) {
  const ClosedForms work = read_least_work(*algorithm, problem);
  return {std::move(algorithm), problem, reference, work.tree ? flops(*work.tree).value_or(0) : 0, seed};
}

// Adds the life of the scope to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& total_s) : total_s_(total_s) {}
  ~Stopwatch() { total_s_ += seconds_since(start_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_s_;
  Clock::time_point start_ = Clock::now();
};

struct Measurer::Impl {
  // A worker that did not live to answer.
  struct Loss {
    Exit exit;
    std::optional<std::int64_t> suspect;  // who was running
    std::string log;
    std::string garbage;                  // what it wrote into its channel; it was then killed for that
    std::string device_error;             // what its device said, after which nothing ran in it

    // Nothing that a candidate did: another process, or the kernel short of memory.
    bool came_from_outside() const { return garbage.empty() && exit.kind == Exit::Kind::signalled && exit.signal == SIGKILL; }

    Rejection rejection() const {
      if (!device_error.empty()) return {Reason::run_error, std::nullopt, std::nullopt, device_error};
      if (!garbage.empty()) return {Reason::worker_crash, std::nullopt, std::nullopt, fmt::format("garbage came over the measuring process's channel: {}", garbage)};
      if (exit.kind == Exit::Kind::timed_out)
        return {Reason::run_timeout, exit.spent_s, exit.limit_s, fmt::format("a call did not end: {}", exit.describe())};
      return {Reason::worker_crash, std::nullopt, std::nullopt,
              fmt::format("the measuring process ended with {} while this candidate ran{}", exit.describe(), tail_for_message(log))};
    }
  };
  using OnMessage = std::function<void(const Message&)>;

  Device device;
  Protocol protocol;
  Objects objects;
  MeasurerLimits limits;
  Launch launch;
  RunsOn runs_on;
  SharedPageOwner shared{};
  std::unique_ptr<Child> child{};
  std::int64_t sequence = 0;
  std::map<std::string, Subject> subjects{};
  double spent_s = 0;

  void start();
  void ensure_worker();
  Loss lose(const Exit& exit, std::string garbage = {});
  std::optional<Loss> converse(const std::string& kind, const Json& body, double call_limit_s, double limit_s, const OnMessage& on_message,
                               const Stop& stop = {});
  Prepared prepare(const std::string& key, const Subject& subject, bool is_again);
  std::optional<Loss> converse_about(const std::string& key, const std::string& kind, Json body, double call_limit_s, double limit_s,
                                     const OnMessage& on_message, const Stop& stop = {});
  template <typename Outcome, typename FromJson>
  Outcome ask_about_one(const std::string& key, const std::string& kind, const Json& body, double call_limit_s, double limit_s, const FromJson& from_json);
};

void Measurer::Impl::start() {
  const Stopwatch stopwatch(spent_s);
  Launch with_page = launch;
  with_page.shared_fd = shared.fd();
  child = std::make_unique<Child>(with_page);
  const Json hello{{"device", print(device)}, {"protocol", print(protocol)}, {"cache", objects.folder().string()}, {"emulated", runs_on == RunsOn::emulator}};
  child->channel().send({++sequence, "hello", hello}, seconds_from_now(limits.start_s));
  const Channel::Received answer = child->channel().receive(seconds_from_now(limits.start_s));
  if (answer.status == Channel::Status::message && answer.message.kind == "ready") return;
  if (answer.status == Channel::Status::message && answer.message.kind == "error") {
    child.reset();
    throw_error(answer.message.body);
  }
  const Exit exit = answer.status == Channel::Status::timeout ? child->kill_at_limit(limits.start_s, limits.start_s) : child->finish(std::chrono::seconds(1));
  const std::string tail = tail_for_message(child->log());
  child.reset();
  throw EnvironmentError(fmt::format("the measuring process does not start: {}{}", exit.describe(), tail));
}

// A new worker proves its device before it judges anyone.
void Measurer::Impl::ensure_worker() {
  if (child && !child->poll_exit()) return;
  for (int attempt = 1;; ++attempt) {
    try {
      start();
    } catch (const EnvironmentError&) {
      if (attempt == kFailedStarts) throw;
      continue;
    }
    shared.page().candidate = 0;
    shared.page().call_started_ns = 0;
    std::string complaint = "no answer";
    const auto loss = converse("health", Json::object(), kHealth_s, kHealth_s, [&](const Message& m) { complaint = m.body.at("complaint").get<std::string>(); });
    if (loss && loss->came_from_outside() && attempt < kFailedStarts) continue;
    if (loss) complaint = loss->exit.describe();
    if (complaint.empty()) return;
    throw EnvironmentError(fmt::format("the device fails its health check: {}", complaint));
  }
}

Measurer::Impl::Loss Measurer::Impl::lose(const Exit& exit, std::string garbage) {
  Loss loss{exit, std::nullopt, child->log(), std::move(garbage), {}};
  if (const std::int64_t running = shared.page().candidate; running != 0) loss.suspect = running - 1;
  shared.page().candidate = 0;
  shared.page().call_started_ns = 0;
  child.reset();
  return loss;
}

// Sends one request and hands every message about it on, until the last one ("end"). An "error" is thrown as what it was.
std::optional<Measurer::Impl::Loss> Measurer::Impl::converse(const std::string& kind, const Json& body, double call_limit_s, double limit_s,
                                                             const OnMessage& on_message, const Stop& stop) {
  const Stopwatch stopwatch(spent_s);
  const Clock::time_point asked = Clock::now();
  std::string device_error;
  std::optional<std::int64_t> broken_by;
  shared.page().stop = 0;
  child->clear_log();
  child->channel().send({++sequence, kind, body}, seconds_from_now(kGrace_s));
  while (true) {
    const Channel::Received received = child->channel().receive(seconds_from_now(kListen_s));
    switch (received.status) {
      case Channel::Status::message:
        if (received.message.sequence != sequence) return lose(child->kill(), "an answer to another question");
        if (received.message.kind == "error") throw_error(received.message.body);
        if (received.message.kind == "end") return std::nullopt;
        try {
          if (received.message.kind == "lost") {  // its last: it ends by itself
            device_error = received.message.body.at("text").get<std::string>();
            broken_by = received.message.body.at("suspect").get<std::int64_t>();
          } else {
            on_message(received.message);
          }
        } catch (const Json::exception& error) {
          return lose(child->kill(), fmt::format("a {} without what belongs in it: {}", received.message.kind, error.what()));
        }
        break;
      case Channel::Status::closed: {
        Loss loss = lose(child->finish(std::chrono::seconds(1)));
        loss.device_error = device_error;
        if (broken_by && *broken_by >= 0) loss.suspect = broken_by;
        return loss;
      }
      case Channel::Status::garbage: return lose(child->kill(), received.garbage);
      case Channel::Status::timeout: break;
    }
    if (stop && stop()) shared.page().stop = 1;
    const std::int64_t since = shared.page().call_started_ns;
    const double in_call_s = since == 0 ? 0 : static_cast<double>(monotonic_ns() - since) * 1e-9;
    if (in_call_s > call_limit_s) return lose(child->kill_at_limit(call_limit_s, in_call_s));
    if (seconds_since(asked) > limit_s) return lose(child->kill_at_limit(limit_s, seconds_since(asked)));
  }
}

// Again: in another worker, which needs the reference's results only if it is asked to check something.
Prepared Measurer::Impl::prepare(const std::string& key, const Subject& subject, bool is_again) {
  Prepared prepared;
  Json body = to_json(subject, objects.put_algorithm(kiln::to_json(*subject.algorithm)));
  body["again"] = is_again;
  const auto ask = [&] {
    ensure_worker();
    return converse("prepare", body, limits.prepare_s, limits.prepare_s,
                    [&](const Message& message) { prepared = prepared_from_json(message.body); });
  };
  auto loss = ask();
  if (loss && loss->came_from_outside()) loss = ask();  // once is an accident; twice is the kernel short of memory
  if (!loss) return prepared;
  if (loss->exit.kind == Exit::Kind::timed_out)
    throw UsageError(fmt::format("the reference of {} did not end: {}; a longer --for gives it longer, up to {:.0f} s (key {})", print(subject.problem),
                                 loss->exit.describe(), MeasurerLimits{}.prepare_s, key));
  throw UsageError(fmt::format("the reference of {} ended with {}{}; an algorithm that reads outside its inputs does this, and so does a problem too large "
                               "to check (key {})",
                               print(subject.problem), loss->exit.describe(), tail_for_message(loss->log), key));
}

// A worker that is new, or has let the subject go for others, is given it again.
std::optional<Measurer::Impl::Loss> Measurer::Impl::converse_about(const std::string& key, const std::string& kind, Json body, double call_limit_s,
                                                                   double limit_s, const OnMessage& on_message, const Stop& stop) {
  const auto subject = subjects.find(key);
  KILN_CHECK(subject != subjects.end(), "subject " + key + " was never prepared");
  body["key"] = key;
  while (true) {
    ensure_worker();
    bool is_unknown = false;
    const auto loss = converse(
        kind, body, call_limit_s, limit_s,
        [&](const Message& message) {
          if (message.kind == "unprepared") is_unknown = true;
          else on_message(message);
        },
        stop);
    if (loss || !is_unknown) return loss;
    prepare(key, subject->second, true);
  }
}

// A request about one candidate, which is blamed when the worker dies under it; a death that came from outside is given a second try.
template <typename Outcome, typename FromJson>
Outcome Measurer::Impl::ask_about_one(const std::string& key, const std::string& kind, const Json& body, double call_limit_s, double limit_s,
                                      const FromJson& from_json) {
  for (int attempt = 1;; ++attempt) {
    Outcome outcome;
    const auto loss = converse_about(key, kind, body, call_limit_s, limit_s, [&](const Message& message) { outcome = from_json(message.body); });
    if (!loss) return outcome;
    if (attempt == 1 && loss->came_from_outside()) continue;
    outcome = Outcome{};
    outcome.rejection = loss->rejection();
    return outcome;
  }
}

Measurer::Measurer(Device device, Protocol protocol, Objects objects, MeasurerLimits limits, Launch launch, RunsOn runs_on)
    : impl_(new Impl{std::move(device), protocol, std::move(objects), limits, std::move(launch), runs_on}) {
  if (impl_->launch.arguments.empty()) impl_->launch.arguments = {"--role=measure"};
}

Measurer::~Measurer() { give_up_worker(); }

const Protocol& Measurer::protocol() const { return impl_->protocol; }

Prepared Measurer::prepare(const Subject& subject) {
  const std::string key = subject_key(subject);
  Prepared prepared = impl_->prepare(key, subject, false);
  impl_->subjects[key] = subject;
  return prepared;
}

CheckOutcome Measurer::check(const std::string& key, const Candidate& candidate, const CheckOptions& options) {
  const Json body{{"candidate", to_json(candidate)}, {"options", to_json(options)}};
  const double limit_s = 2 * options.call_limit_s + impl_->limits.prepare_s + kGrace_s;  // ragged references are run on demand
  return impl_->ask_about_one<CheckOutcome>(key, "check", body, options.call_limit_s, limit_s, check_outcome_from_json);
}

FloorOutcome Measurer::floor(const std::string& key, const Candidate& kernel, std::uint64_t seed) {
  const Json body{{"candidate", to_json(kernel)}, {"seed", seed}};
  const double limit_s = 6 * impl_->protocol.max_s + kGrace_s;  // three tries of two series
  return impl_->ask_about_one<FloorOutcome>(key, "floor", body, limit_s, limit_s, floor_outcome_from_json);
}

ClocksOutcome Measurer::clocks(const std::string& key, const Candidate& kernel, double call_limit_s) {
  return impl_->ask_about_one<ClocksOutcome>(key, "clocks", {{"candidate", to_json(kernel)}}, call_limit_s, kClocks_s + kGrace_s, clocks_outcome_from_json);
}

namespace {

// What is left of a race when workers die under it.
struct Field {
  std::vector<RaceEntry> entries;
  std::set<std::int64_t> told;      // results that the caller has
  std::set<std::int64_t> forgiven;  // ran when a worker was killed from outside

  bool is_decided() const {
    return std::all_of(entries.begin(), entries.end(), [this](const RaceEntry& entry) { return told.contains(entry.candidate.id); });
  }
  const RaceEntry* find(std::int64_t id) const {
    for (const RaceEntry& entry : entries)
      if (entry.candidate.id == id) return &entry;
    return nullptr;
  }
  // Who starts again: the undecided, and baseline and incumbent in any case, against whom they are compared.
  std::vector<RaceEntry> starters() const {
    std::vector<RaceEntry> starters;
    for (const RaceEntry& entry : entries)
      if (entry.is_baseline || entry.is_incumbent || !told.contains(entry.candidate.id)) starters.push_back(entry);
    return starters;
  }
};

}  // namespace

void Measurer::race(const std::string& key, const std::vector<RaceEntry>& entries, const RaceOptions& options, const Done& done, const Stop& stop) {
  if (options.fresh_process) give_up_worker();
  const Clock::time_point begun = Clock::now();
  Field field{entries, {}, {}};
  std::string baseline_failure;  // ends the race for everyone
  const auto tell = [&](const RaceResult& result) {
    const RaceEntry* entry = field.find(result.id);
    if (entry != nullptr && entry->is_baseline && result.rejection) baseline_failure = result.rejection->text;
    if (field.told.insert(result.id).second) done(result);
  };
  const auto reject_rest = [&](const Rejection& rejection) {
    for (const RaceEntry& entry : field.entries) tell(rejected(entry.candidate.id, rejection));
  };
  while (!field.is_decided()) {
    RaceOptions rest = options;
    rest.limit_s = std::max(0.0, options.limit_s - seconds_since(begun));
    Json starters = Json::array();
    for (const RaceEntry& entry : field.starters()) starters.push_back(to_json(entry));
    const double limit_s = rest.limit_s + options.call_limit_s + kGrace_s + kLoad_s * static_cast<double>(starters.size());
    const auto loss = impl_->converse_about(key, "race", {{"entries", starters}, {"options", to_json(rest)}}, options.call_limit_s, limit_s,
                                            [&](const Message& message) { tell(race_result_from_json(message.body)); }, stop);
    if (!loss) {
      const std::string why = baseline_failure.empty() ? "the race ended without a result for it" : "the baseline of its race failed: " + baseline_failure;
      return reject_rest({Reason::run_error, std::nullopt, std::nullopt, why});
    }
    const RaceEntry* suspect = loss->suspect ? field.find(*loss->suspect) : nullptr;
    if (suspect == nullptr) {  // it died between calls: once is an accident
      if (!field.forgiven.insert(-1).second) return reject_rest(loss->rejection());
      continue;
    }
    if (loss->came_from_outside() && field.forgiven.insert(suspect->candidate.id).second) continue;
    const Rejection rejection = loss->rejection();
    const bool was_baseline = suspect->is_baseline;
    const std::int64_t id = suspect->candidate.id;
    tell(rejected(id, rejection));
    std::erase_if(field.entries, [id](const RaceEntry& entry) { return entry.candidate.id == id; });
    if (was_baseline) return reject_rest({Reason::run_error, std::nullopt, std::nullopt, "the baseline of its race failed: " + baseline_failure});
  }
}

void Measurer::check_health() {
  give_up_worker();
  impl_->ensure_worker();
}

void Measurer::give_up_worker() {
  if (!impl_->child) return;
  impl_->child->finish(std::chrono::seconds(1));
  impl_->child.reset();
}

double Measurer::spent_s() const { return impl_->spent_s; }
std::optional<pid_t> Measurer::pid() const { return impl_->child ? std::optional<pid_t>(impl_->child->pid()) : std::nullopt; }
std::string Measurer::log() const { return impl_->child ? impl_->child->log() : ""; }

}  // namespace kiln::autotune
