// One problem being tuned: its baseline, its batches, its finals. Everything learnt is in the store before the next step begins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/proposals.h"

namespace kiln::autotune {

class Tuning {
 public:
  Tuning(Run& run, const WorkItem& item) : run_(run), item_(item), proposals_(run, item) {}

  const WorkItem& item() const { return item_; }

  // Reference, inputs, baseline, noise floor, what earlier runs know, the space and its search. False when neither a baseline nor anything else
  // could be built and run: the reasons are in the store and in a note.
  bool prepare();

  // Schedules to start from, tried before the search's own proposals: --try files, winners of neighbouring problems. Known and illegal ones are dropped.
  void add_seed(const Schedule& schedule, const std::string& origin) { proposals_.add_seed(schedule, origin); }

  // Proposes, builds, checks and races a batch; false when nothing was left to propose.
  bool batch();

  // The best few against the baseline and what is chosen now, in fresh processes. Takes about `limit_s` at most.
  void finals(double limit_s);
  double preparing_s() const { return preparing_s_; }  // inputs and the reference's results
  double finals_need_s() const;                        // what the finals take at least

  Prospect prospect() const;
  bool is_contended() const { return contended_; }
  bool has_resumed() const { return proposals_.has_resumed(); }
  const std::string& subject() const { return prepared_.key; }
  double floor() const { return floor_; }
  // The best verified entrants so far, the baseline among them; best first.
  std::vector<Entrant> ranking() const;
  const Entrant& baseline() const { return *baseline_; }
  void tell(const std::string& phase, int done, int total) const;

 private:
  struct Settled {
    Entrant entrant;
    RaceResult result;
  };
  bool find_baseline();
  std::vector<Wish> cpu_baselines() const;
  std::vector<Wish> gpu_baselines() const;
  std::optional<Entrant> first_that_runs(const std::vector<Wish>& wishes);
  void seed_directives(const Entrant& opaque);
  void measure_floor();
  SearchPlan plan() const;
  std::size_t candidates_left() const;
  void restore_timed();
  double hopeless_ns() const;
  std::vector<Entrant> admit(const std::vector<Wish>& wishes);
  std::vector<Settled> race(const std::vector<Entrant>& entrants, RaceOptions options);
  void screen_and_rank(std::vector<Entrant> entrants);
  void settle(Entrant entrant, const std::optional<generators::Rejection>& rejection);
  std::optional<Entrant> incumbent() const;
  double inputs_s() const;

  Run& run_;
  WorkItem item_;
  Proposals proposals_;
  ObjectRef reference_;
  Prepared prepared_;
  double preparing_s_ = 0;                // what that took
  std::optional<Entrant> baseline_;
  double baseline_ns_ = 0;
  double floor_ = 0;
  Clock::time_point floor_measured_{};
  bool contended_ = false;
  std::vector<Entrant> known_;            // verified and timed, the baseline left out
  std::vector<double> best_after_batch_;
  double latest_batch_s_ = 1, candidate_s_ = 1;  // what the latest batch cost, and each of it
  std::uint64_t races_ = 0;
};

}  // namespace kiln::autotune
