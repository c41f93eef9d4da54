// `kiln status`: what the runs have done and are doing, safe while a tuner writes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/runs.h"
#include "db/status.h"

namespace kiln::autotune::cli {

struct RunLine {
  std::string run;                    // UUID
  std::string state;                  // running · done · interrupted · failed
  bool is_gone = false;               // says running, but its process is dead
  std::string started, heartbeat;
  std::optional<std::string> ended;
  std::optional<double> budget_s;
  std::string command;                // as typed; empty: not kept
  std::optional<double> noise;        // the latest A/A floor
  std::vector<std::string> faults;    // what could not be done and why: "untunable: …", "failed: …"
  std::string last_event;             // "contended: …"; empty: none, or the last is a fault
};

// The newest failure of one reason on one problem.
struct Failure {
  std::string at, problem, reason, text, candidate;
  int count = 1;                      // failures of this reason on this problem in the runs looked at
};

struct StatusPage {
  std::vector<RunLine> runs;          // newest first
  std::vector<db::ProblemStatus> problems;
  std::vector<Failure> failures;      // newest first
};

// The newest `most_runs` runs, every problem of the store, and the failures of those runs. What was merely too slow or the same as another
// build is counted with the problem and is no failure.
StatusPage status_page(db::Store& store, std::size_t most_runs = 5, const std::function<db::Liveness(const db::Process&)>& is_alive = db::liveness);

std::string print_status(const StatusPage& page, bool colour);
std::string status_json(const StatusPage& page);

}  // namespace kiln::autotune::cli
