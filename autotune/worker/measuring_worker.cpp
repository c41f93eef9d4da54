#include "autotune/worker/measuring_worker.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <list>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "autotune/measure/in_parallel.h"
#include "autotune/measure/measure_messages.h"
#include "autotune/worker/check_candidate.h"
#include "autotune/worker/prepared_subject.h"
#include "autotune/worker/race.h"
#include "autotune/worker/running.h"
#include "autotune/worker/serve.h"
#include "dsl/error.h"
#include "generators/runtime/host.h"

namespace kiln::autotune {
namespace {

constexpr int kPageFd = 4;
// Inputs, truths and ragged cases stay in memory while they take no more than this share of it; others are prepared again, from files. A run goes from
// problem to problem with every batch.
constexpr double kSubjectsShare = 0.4;

std::size_t bytes_for_subjects() {
  return static_cast<std::size_t>(kSubjectsShare * static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

// One set of cores for the life of the process: the first `threads` of those it may use.
void pin(int threads) {
  cpu_set_t allowed, chosen;
  CPU_ZERO(&chosen);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;  // more CPUs than the set holds: left as it is
  for (int cpu = 0, taken = 0; cpu < CPU_SETSIZE && taken < threads; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &chosen);
    ++taken;
  }
  ::sched_setaffinity(0, sizeof chosen, &chosen);
}

class MeasuringWorker {
 public:
  explicit MeasuringWorker(const OpenMeasured& open) : page_(map_shared_page(kPageFd)), open_(open) {}

  void hello(const Json& body, const Answer& answer) {
    const Device facts = parse_device(body.at("device").get<std::string>());
    protocol_ = parse_protocol(body.at("protocol").get<std::string>());
    objects_.emplace(body.at("cache").get<std::string>());
    // References run on the host whatever is measured; beside a GPU on all its processors.
    const int threads = facts.gpu ? usable_processors() : protocol_.threads;
    if (!facts.gpu) pin(threads);
    if (const int code = kiln_host_start(threads); code != KILN_HOST_OK)
      throw EnvironmentError(fmt::format("{} threads for kernels cannot be started: code {}", threads, code));
    device_ = open_({facts, protocol_, page_, body.at("emulated").get<bool>() ? RunsOn::emulator : RunsOn::device});
    answer.send("ready", Json::object());
  }

  void health(const Json&, const Answer& answer) {
    answer.send("health", {{"complaint", device_->find_health_complaint()}});
    end(answer);
  }

  void prepare(const Json& body, const Answer& answer) {
    const auto key = body.at("key").get<std::string>();
    if (find(key) == nullptr) {
      subjects_.push_front({key, std::make_unique<PreparedSubject>(subject_from_json(body, *objects_), *objects_)});
      forget_some();
    }
    if (!body.at("again").get<bool>()) answer.send("prepared", to_json(find(key)->prepared()));
    end(answer);
  }

  void check(const Json& body, const Answer& answer) {
    with_subject(body, answer, [&](PreparedSubject& subject) {
      const Candidate candidate = candidate_from_json(body.at("candidate"));
      CheckOutcome outcome;
      if (const auto build = load(candidate, outcome.rejection))
        outcome = check_candidate(subject, *build, candidate, check_options_from_json(body.at("options")), page_);
      answer.send("checked", to_json(outcome));
    });
  }

  void race(const Json& body, const Answer& answer) {
    with_subject(body, answer, [&](PreparedSubject& subject) {
      const RaceRequest request{protocol_, race_options_from_json(body.at("options"))};
      const auto tell = [&answer](const RaceResult& result) { answer.send("result", to_json(result)); };
      std::vector<Contender> contenders;
      for (const Json& json : body.at("entries")) {
        const RaceEntry entry = race_entry_from_json(json);
        RaceResult result;
        result.id = entry.candidate.id;
        if (auto build = load(entry.candidate, result.rejection)) contenders.push_back({entry, std::move(build)});
        else tell(result);
      }
      run_race(*device_, subject, std::move(contenders), request, page_, tell);
    });
  }

  void clocks(const Json& body, const Answer& answer) {
    with_subject(body, answer, [&](PreparedSubject& subject) {
      const Candidate candidate = candidate_from_json(body.at("candidate"));
      ClocksOutcome outcome;
      if (const auto build = load(candidate, outcome.rejection)) {
        const Suspect suspect(page_, candidate.id);
        const Inputs& inputs = subject.inputs();
        outcome.rejection = build->find_unmet(subject.algorithm(), inputs.extents);
        if (!outcome.rejection) outcome = build->clocks(subject.algorithm(), inputs);
      }
      answer.send("clocks", to_json(outcome));
    });
  }

  void floor(const Json& body, const Answer& answer) {
    with_subject(body, answer, [&](PreparedSubject& subject) {
      RaceRequest request{protocol_, {}};
      body.at("seed").get_to(request.options.seed);
      const Candidate kernel = candidate_from_json(body.at("candidate"));
      FloorOutcome outcome;
      if (const auto build = load(kernel, outcome.rejection)) outcome = measure_floor(*device_, subject, *build, kernel, request, page_);
      answer.send("floor", to_json(outcome));
    });
  }

 private:
  static void end(const Answer& answer) { answer.send("end", Json::object()); }

  // The newest stays however large it is.
  void forget_some() {
    std::size_t bytes = 0;
    for (auto at = subjects_.begin(); at != subjects_.end();) {
      bytes += at->second->bytes();
      at = at != subjects_.begin() && bytes > bytes_for_subjects() ? subjects_.erase(at) : std::next(at);
    }
  }

  // The subject moves to the front: the least recently used is the one let go.
  PreparedSubject* find(const std::string& key) {
    for (auto at = subjects_.begin(); at != subjects_.end(); ++at) {
      if (at->first != key) continue;
      subjects_.splice(subjects_.begin(), subjects_, at);
      return subjects_.front().second.get();
    }
    return nullptr;
  }

  template <typename Work>
  void with_subject(const Json& body, const Answer& answer, const Work& work) {
    PreparedSubject* subject = find(body.at("key").get<std::string>());
    if (subject == nullptr) answer.send("unprepared", Json::object());
    else work(*subject);
    end(answer);
  }

  // A damaged or missing file is DataError, a missing linker EnvironmentError: not the candidate's fault, and thrown on.
  std::unique_ptr<LoadedCandidate> load(const Candidate& candidate, std::optional<generators::Rejection>& rejection) {
    const Suspect suspect(page_, candidate.id);
    try {
      return device_->load(candidate.object, *objects_);
    } catch (const DataError&) {
      throw;
    } catch (const EnvironmentError&) {
      throw;
    } catch (const Error& error) {
      rejection = generators::Rejection{generators::Reason::run_error, std::nullopt, std::nullopt, error.what()};
      return nullptr;
    }
  }

  SharedPage& page_;
  const OpenMeasured& open_;
  Protocol protocol_;
  std::optional<Objects> objects_;
  std::unique_ptr<MeasuredDevice> device_;
  std::list<std::pair<std::string, std::unique_ptr<PreparedSubject>>> subjects_;
};

}  // namespace

int serve_measuring(Channel& channel, const OpenMeasured& open) {
  MeasuringWorker worker(open);
  // Without its device a worker is of no use: it says what broke it, and by whom, and a new one takes its place.
  const auto handler = [&worker](void (MeasuringWorker::*work)(const Json&, const Answer&)) {
    return [&worker, work](const Json& body, const Answer& answer) {
      try {
        (worker.*work)(body, answer);
      } catch (const DeviceLost& lost) {
        answer.send("lost", {{"suspect", lost.suspect}, {"text", lost.what()}});
        std::_Exit(EXIT_FAILURE);
      }
    };
  };
  const int code = serve(channel, {{"hello", handler(&MeasuringWorker::hello)},
                                   {"health", handler(&MeasuringWorker::health)},
                                   {"prepare", handler(&MeasuringWorker::prepare)},
                                   {"check", handler(&MeasuringWorker::check)},
                                   {"race", handler(&MeasuringWorker::race)},
                                   {"clocks", handler(&MeasuringWorker::clocks)},
                                   {"floor", handler(&MeasuringWorker::floor)}});
  kiln_host_stop();
  return code;
}

}  // namespace kiln::autotune
