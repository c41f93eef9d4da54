// Builds by compile workers, each kept under its key: one that is known is not made again while its object is at hand.
#pragma once

#include "autotune/back_end.h"
#include "autotune/builds.h"
#include "autotune/compile_pool.h"

namespace kiln::autotune {

class CompiledBuilds : public Builds {
 public:
  // Both outlive the value.
  CompiledBuilds(const BackEnd& back_end, CompilePool& pool) : back_end_(back_end), pool_(pool) {}

  const BackEnd& back_end() const { return back_end_; }
  CompilePool& pool() const { return pool_; }

  // Built once, found in the cache folder afterwards.
  ObjectRef reference(Run& run, const WorkItem& item) override;
  // Legality, then the compile workers.
  std::vector<Admission> build(Run& run, const WorkItem& item, const std::vector<Wish>& wishes) override;
  std::optional<ObjectRef> rebuild(Run& run, const WorkItem& item, const Schedule& schedule) override;
  std::string directives_of(Run& run, const WorkItem& item, const Schedule& opaque) override;
  std::optional<std::vector<Wish>> planned(Run&, const WorkItem&) override { return std::nullopt; }
  std::string unmet_requirement(const WorkItem& item) override { return back_end_.unmet_requirement(*item.algorithm, item.problem); }

 private:
  const BackEnd& back_end_;
  CompilePool& pool_;
};

// The build of a schedule, with the time and memory that this one may take.
CompileJob job_for(const Limits& limits, const WorkItem& item, const Schedule& schedule, std::int64_t id);

db::ToolchainRow toolchain_row(const BackEnd& back_end);

}  // namespace kiln::autotune
