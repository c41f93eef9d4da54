// Which kernel serves a problem: the rows behind a verdict, choices (append-only), pins and bans, and the packages made of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/trials.h"
#include "db/verdict.h"

namespace kiln::db {

// A contender with the rows it came from. `trial` is its latest verified trial with a clean final, else its latest ok trial.
struct ContenderRow {
  TrialId trial{};
  ScheduleId schedule{};
  std::optional<BuildId> build;
  std::string schedule_origin;
  Contender contender;
};

// Every own candidate with an ok trial under `key`. The baseline is that of the latest final race with a clean baseline; races against
// another baseline schedule are left out, as are races whose own baseline was not clean.
std::vector<ContenderRow> contenders(Store& store, const ResultKey& key);

struct StoredVerdict {
  std::vector<ContenderRow> contenders;  // Placed::contender counts into this
  Verdict verdict;
  std::optional<ContenderRow> chosen;
  std::optional<ContenderRow> baseline;
};
StoredVerdict verdict(Store& store, const ResultKey& key);  // decide(contenders) under the device's rules

struct ChoiceRow {
  std::optional<RunId> run;               // absent: `kiln choose` on its own
  ResultKey key;
  std::string decision;                   // specialise · bucket · generic · keep_previous
  std::optional<TrialId> trial;           // absent exactly for keep_previous
  std::optional<TrialId> baseline;        // the baseline's trial, when it could be built
  std::optional<double> ratio, ratio_lo, ratio_hi;
  std::optional<double> baseline_ns, value_ns;
  std::optional<double> calls, horizon_s; // the demand it was weighed with
  std::string serves;                     // JSON intervals of a bucket; empty: the problem itself
  std::string why;
};
// Supersedes the choice in force for the same problem and device. DataError unless the trial has a passed check and a clean own final of
// this problem on this device.
ChoiceId record_choice(Store& store, const ChoiceRow& row);

struct StoredChoice {
  ChoiceId id{};
  std::string at;
  ChoiceRow row;
  std::optional<ChoiceId> supersedes;
  // What actually serves the problem: the choice's own trial; for keep_previous that of the nearest predecessor that has one, else the
  // baseline's.
  std::optional<TrialId> serving_trial;
};
std::vector<StoredChoice> choices_in_force(Store& store, std::optional<DeviceId> device = std::nullopt);  // by operator and problem
std::optional<StoredChoice> choice_in_force(Store& store, ProblemId problem, DeviceId device);
std::vector<StoredChoice> choice_history(Store& store, ProblemId problem, DeviceId device);               // newest first

// What an export packs of one choice.
struct ServedBuild {
  StoredChoice choice;
  TrialId trial{};
  BuildId build{};
  ScheduleId schedule{};
};
std::vector<ServedBuild> served_builds(Store& store, std::optional<DeviceId> device = std::nullopt);

struct Ruling {
  RulingId id{};
  std::string kind;                      // pin · ban
  ProblemId problem{};
  std::optional<DeviceId> device;        // absent: every device
  ScheduleId schedule{};
  std::string why, at;
};
// A pin replaces an earlier pin of the same problem and device; a ban lifts a pin of the same schedule, and the other way round.
RulingId record_ruling(Store& store, const Ruling& ruling);
void lift_ruling(Store& store, RulingId id);
std::vector<Ruling> rulings_in_force(Store& store, ProblemId problem, DeviceId device);

struct PackageRow {
  std::string set_name;
  int abi_version = 1;
  std::string manifest;                  // JSON
  Digest library;
  struct Item {
    ChoiceId choice{};
    std::string target, symbol;
    int dispatch_rank = 0;
  };
  std::vector<Item> items;
};
PackageId record_package(Store& store, const PackageRow& row);

}  // namespace kiln::db
