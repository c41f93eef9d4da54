// Local search over schedules themselves: from the best that are known, whoever wrote them, one or two edits further. Same seed and same outcomes:
// same proposals.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dsl/legality.h"
#include "schedules/edits.h"
#include "schedules/random.h"

namespace kiln::autotune {

class EditSearch {
 public:
  EditSearch(std::shared_ptr<const Algorithm> algorithm, const Problem& problem, const Device& device, std::uint64_t seed);

  // A schedule's time over the baseline's. Opaque ones are not learned from: nothing in them can be edited.
  void learn(const Schedule& schedule, double ratio);

  // A legal schedule that `is_known` says nothing of and that was not proposed before. Nothing when every edit of every good schedule was.
  std::optional<Schedule> propose(const std::function<bool(const Digest&)>& is_known);

 private:
  struct Base {
    Schedule schedule;
    double ratio = 1;
    bool is_open = false;                                                    // its edits are listed
    std::map<schedules::EditKind, std::vector<schedules::Edit>> ahead = {};  // not taken yet, in random order, from the back
  };

  Base* choose_base();
  std::optional<schedules::Edit> take(Base& base);
  void open(Base& base);

  std::shared_ptr<const Algorithm> algorithm_;
  schedules::Editor editor_;
  Legality legality_;
  schedules::Random random_;
  std::vector<Base> bases_;  // best first
};

}  // namespace kiln::autotune
