// Builds that a bundle brought: whatever was planned, and nothing else.
#pragma once

#include "autotune/builds.h"
#include "autotune/bundle/plan.h"

namespace kiln::autotune {

class PackedBuilds : public Builds {
 public:
  // `plan` outlives the value.
  explicit PackedBuilds(const BundlePlan& plan) : plan_(plan) {}

  // All throw DataError where the store lacks what was packed.
  ObjectRef reference(Run& run, const WorkItem& item) override;
  // A wish that was not planned has neither entrant nor rejection.
  std::vector<Admission> build(Run& run, const WorkItem& item, const std::vector<Wish>& wishes) override;
  std::optional<ObjectRef> rebuild(Run&, const WorkItem&, const Schedule&) override { return std::nullopt; }
  std::string directives_of(Run&, const WorkItem&, const Schedule&) override { return {}; }
  std::optional<std::vector<Wish>> planned(Run& run, const WorkItem& item) override;
  std::string unmet_requirement(const WorkItem&) override { return {}; }

 private:
  const BundlePlan& plan_;
};

}  // namespace kiln::autotune
