#include "autotune/cli/export/verify_role.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/measure/measure_messages.h"
#include "autotune/worker/prepared_subject.h"
#include "autotune/worker/serve.h"
#include "generators/package/opened.h"
#include "generators/runtime/host.h"

namespace kiln::autotune::cli {
namespace {

using generators::package::BufferView;
using generators::package::CallArgument;
using generators::package::CallOutcome;
using generators::package::OpenedPackage;

constexpr std::byte kPoison{0xff};  // NaN in every float type: an element that is not written cannot pass

std::vector<CallArgument> call_arguments(CallMemory& memory, const Algorithm& algorithm) {
  std::vector<CallArgument> arguments(algorithm.arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& declared = algorithm.arguments[i];
    if (declared.is_scalar) {
      arguments[i].scalar = memory.call().argv()[i];
      continue;
    }
    const halide_buffer_t& buffer = memory.call().buffer(i);
    BufferView& view = arguments[i].buffer;
    view.data = buffer.host;
    view.type = declared.type;
    for (int d = 0; d < buffer.dimensions; ++d) {
      view.extents.push_back(buffer.dim[d].extent);
      view.strides.push_back(buffer.dim[d].stride);
    }
  }
  return arguments;
}

VerifyOutcome compare_outputs(const CallMemory& memory, const Case& made, const Algorithm& algorithm) {
  VerifyOutcome outcome;
  outcome.bit_exact = true;
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    const OutputTruth& truth = made.truth[i];
    const std::string& name = algorithm.arguments[truth.argument].name;
    const Comparison comparison = compare(memory.output(truth.argument), truth, made.tolerances[i]);
    if (comparison.worst) {
      outcome.max_error = std::max(outcome.max_error, comparison.worst->severity);
      outcome.bit_exact &= comparison.worst->severity == 0;
    }
    if (!comparison.passes) outcome.failure = comparison.worst ? describe(*comparison.worst, name, {}) : "output " + name + " differs";
  }
  if (const auto damage = memory.find_damage()) outcome.failure = *damage;
  return outcome;
}

VerifyOutcome verify(const autotune::Json& body) {
  kiln_host_start(1);  // for the reference; the package brings its own threads
  const Objects objects(body.at("cache").get<std::string>());
  const PreparedSubject subject(subject_from_json(body.at("subject"), objects), objects);
  const Algorithm& algorithm = subject.algorithm();
  const Case& made = subject.timed();
  CallMemory memory(algorithm, made.inputs, 1);  // pointers aligned to one element and to nothing more
  memory.reset(kPoison);

  const OpenedPackage package(body.at("library").get<std::string>(), body.at("set").get<std::string>(), body.at("threads").get<int>());
  const CallOutcome called = package.call(body.at("entry").get<std::string>(), body.at("variant").get<int>(), call_arguments(memory, algorithm));
  if (called.code != 0) {
    VerifyOutcome refused;
    refused.failure = fmt::format("code {}: {}", called.code, called.text);
    return refused;
  }
  return compare_outputs(memory, made, algorithm);
}

}  // namespace

autotune::Json verify_request_to_json(const VerifyRequest& request, const Subject& subject, const std::string& algorithm_hash, const std::string& cache_folder) {
  return {{"library", request.library}, {"set", request.set},       {"entry", request.entry}, {"variant", request.variant},
          {"threads", request.threads}, {"cache", cache_folder}, {"subject", to_json(subject, algorithm_hash)}};
}

VerifyOutcome verify_outcome_from_json(const autotune::Json& json) {
  VerifyOutcome outcome;
  json.at("failure").get_to(outcome.failure);
  outcome.max_error = number_from(json.at("max_error"));
  json.at("bit_exact").get_to(outcome.bit_exact);
  return outcome;
}

int run_verify_role(Channel& channel) {
  return serve(channel, {{"verify", [](const autotune::Json& body, const Answer& answer) {
                            const VerifyOutcome outcome = verify(body);
                            answer.send("verified", {{"failure", outcome.failure}, {"max_error", number(outcome.max_error)}, {"bit_exact", outcome.bit_exact}});
                          }}});
}

}  // namespace kiln::autotune::cli
