// Where the objects of a run come from: compile workers make them, or a bundle brought them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/entrant.h"

namespace kiln::autotune {

class Builds {
 public:
  virtual ~Builds() = default;

  // The reference of an algorithm as an object. Throws UsageError with the compiler's words.
  virtual ObjectRef reference(Run& run, const WorkItem& item) = 0;

  // What became of each wish, in their order; every step is committed. An object equal to one that was timed already is rejected as same_as_build.
  virtual std::vector<Admission> build(Run& run, const WorkItem& item, const std::vector<Wish>& wishes) = 0;

  // Once more, of a known build whose bytes are nowhere. Nothing when it no longer builds.
  virtual std::optional<ObjectRef> rebuild(Run& run, const WorkItem& item, const Schedule& schedule) = 0;

  // What an opaque schedule does, as directives; builds it once more, since the store keeps no more than its object. Empty where directives cannot say it.
  virtual std::string directives_of(Run& run, const WorkItem& item, const Schedule& opaque) = 0;

  // All that there is to try, in the order in which it was planned. Nothing where whatever is proposed can be built.
  virtual std::optional<std::vector<Wish>> planned(Run& run, const WorkItem& item) = 0;

  // What a GPU's kernels would need of an algorithm that no space has schedules for, and it has not. Empty where they compute it.
  virtual std::string unmet_requirement(const WorkItem& item) = 0;
};

}  // namespace kiln::autotune
