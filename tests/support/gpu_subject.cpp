#include "tests/support/gpu_subject.h"

#include "autotune/compile_pool.h"
#include "autotune/explain.h"
#include "autotune/probe.h"
#include "dsl/error.h"
#include "generators/cuda/image.h"

namespace kiln::tests {

using namespace autotune;

GpuSubject::GpuSubject(const std::string& problem, const std::string& schedule) : objects_(folder_.file("objects")) {
  const Device host = probe().device;
  Reader reader({}, host);
  const ExplainSubject read = read_subject(reader, problem, parse_schedule(schedule));
  program_ = generators::cuda::lower(*read.algorithm, read.schedule, read.problem);
  subject_.algorithm = read.algorithm;
  subject_.problem = read.problem;
  CompileJob reference;
  reference.what = CompileJob::What::reference;
  reference.algorithm = read.algorithm;
  reference.problem = read.problem;
  CompilePool pool(1, host, objects_);
  pool.run({reference}, [](std::int64_t) {}, [&](const CompileOutcome& outcome) {
    if (!outcome.object) throw Error("the reference of " + problem + " is not built: " + outcome.build.log);
    subject_.reference = *outcome.object;
  });
}

Candidate GpuSubject::candidate(std::int64_t id, const std::string& code) const {
  const generators::cuda::LaunchRecord record = launch_record(program_);
  return {id, {objects_.put_object(generators::cuda::pack({code, record})), record.kernels.front().name, "cuda-sm_90a"}, false};
}

}  // namespace kiln::tests
