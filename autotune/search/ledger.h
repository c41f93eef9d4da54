// What a search has proposed and learnt: every point once, with its phase and, when it is known, its outcome.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "autotune/search/search.h"

namespace kiln::autotune {

class Ledger {
 public:
  Ledger(schedules::Space space, std::uint64_t seed) : space_(std::move(space)), random_(seed) {}

  struct Entry {
    Trial trial;
    bool observed = false;
  };

  const schedules::Space& space() const { return space_; }
  schedules::Random& random() { return random_; }
  const std::vector<Entry>& entries() const { return entries_; }
  std::optional<std::size_t> find(const schedules::Point& point) const;
  std::size_t count(Phase phase) const;
  std::vector<Trial> observed() const;

  // Whether entry `a` is a better place to be than entry `b`: observed, succeeded, and then the lower ratio, the earlier proposal.
  bool better(std::size_t a, std::size_t b) const;

  // The point must be new.
  Proposal record(const schedules::Point& point, Phase phase);
  // Returns the entry. A point never proposed is a bug of the caller.
  std::size_t observe(const schedules::Point& point, Outcome outcome);
  // A past trial; a point known already keeps its first outcome.
  void adopt(const Trial& trial);

  // The first seed of the space that is new.
  std::optional<schedules::Point> new_seed() const;
  // A draw by form among the points that are new; nothing when there are none.
  std::optional<schedules::Point> new_draw();

 private:
  schedules::Space space_;
  schedules::Random random_;
  std::vector<Entry> entries_;
  std::map<schedules::Point, std::size_t> index_;
};

}  // namespace kiln::autotune
