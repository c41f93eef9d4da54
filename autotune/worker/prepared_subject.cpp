#include "autotune/worker/prepared_subject.h"

#include <algorithm>

#include <fmt/format.h>

#include "autotune/measure/measure_messages.h"
#include "autotune/measure/ragged.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

generators::host::Loaded load_object(const Objects& objects, const ObjectRef& object) {
  return generators::host::Loaded(generators::Artifact{objects.object(object.hash), object.symbol, object.target});
}

std::optional<std::string> shortfall(const generators::host::Loaded& reference, const Algorithm& algorithm, const Problem& problem) {
  const auto extents = generators::host::extents_of(algorithm, problem);
  const auto required = generators::host::required_regions(reference, algorithm, extents, generators::host::reference_types(algorithm));
  return generators::host::find_shortfall(required, algorithm, extents);
}

bool accepts(const generators::host::Loaded& reference, const Algorithm& algorithm, const Problem& problem) {
  try {
    return !shortfall(reference, algorithm, problem);
  } catch (const Error&) {
    return false;  // extents that the algorithm itself excludes
  }
}

// A file is written and read with its digest, which is made at 265 MB/s (SHA-256, a Xeon): what takes long that way and the reference makes faster is made again.
bool is_worth_keeping(const Case& made) {
  constexpr double kFileBytes_s = 200e6, kShort_s = 0.1;
  double bytes = 0;
  for (const OutputTruth& output : made.truth) bytes += static_cast<double>(output.bytes());
  return std::max(kShort_s, made.reference_s) > bytes / kFileBytes_s;
}

}  // namespace

PreparedSubject::PreparedSubject(Subject subject, const Objects& objects)
    : subject_(std::move(subject)), objects_(objects), reference_(load_object(objects, subject_.reference)) {
  if (const auto short_of = shortfall(reference_, algorithm(), subject_.problem))
    throw UsageError(fmt::format("{}: {}; the algorithm reads outside what this problem gives it", print(subject_.problem), *short_of));
  timed_ = make_case(subject_.problem, 0);
  for (const Problem& problem : autotune::ragged_problems(subject_.problem, algorithm()))
    if (accepts(reference_, algorithm(), problem)) ragged_.push_back(problem);
  ragged_cases_.resize(ragged_.size());
}

const Case& PreparedSubject::timed() {
  if (timed_->truth.empty()) find_truth(*timed_, subject_.runs_in_tiles());
  return *timed_;
}

Prepared PreparedSubject::prepared() {
  Prepared prepared;
  prepared.key = subject_key(subject_);
  const Truth& truth = timed().truth;
  prepared.whole = std::all_of(truth.begin(), truth.end(), [](const OutputTruth& output) { return output.whole; });
  prepared.ragged = ragged_;
  if (ragged_.empty())
    prepared.ragged_absent = autotune::ragged_problems(subject_.problem, algorithm()).empty() ? "no extent is large enough to be made ragged"
                                                                                          : "the reference accepts no other extents";
  prepared.reference_s = timed_->reference_s;
  return prepared;
}

std::size_t PreparedSubject::bytes() const {
  const auto bytes_of_case = [](const Case& made) {
    std::size_t bytes = 0;
    for (const auto& input : made.inputs.bytes) bytes += input.size();
    for (const OutputTruth& truth : made.truth) bytes += truth.bytes();
    return bytes;
  };
  std::size_t bytes = bytes_of_case(*timed_);
  for (const auto& made : ragged_cases_) bytes += made ? bytes_of_case(*made) : 0;
  return bytes;
}

// The first ragged problem is small whatever the timed one is; the others are as large as that.
const Case& PreparedSubject::ragged(std::size_t i) {
  if (!ragged_cases_[i]) ragged_cases_[i] = make_case(ragged_[i], 1 + i);
  if (ragged_cases_[i]->truth.empty()) find_truth(*ragged_cases_[i], i > 0 && subject_.runs_in_tiles());
  return *ragged_cases_[i];
}

std::unique_ptr<Case> PreparedSubject::make_case(const Problem& problem, std::size_t scalar_choice) const {
  auto made = std::make_unique<Case>();
  made->problem = problem;
  made->inputs = make_inputs(algorithm(), problem, subject_.seed, scalar_choice);
  made->tolerances = tolerances(algorithm(), problem);
  return made;
}

void PreparedSubject::find_truth(Case& made, bool in_tiles) const {
  Truth truth = in_tiles ? output_tiles(algorithm(), made.inputs, subject_.seed) : whole_outputs(algorithm(), made.inputs);
  const Digest name = digest("truth", fmt::format("{}\n{}\n{}\n", subject_key(subject_), print(made.problem), in_tiles ? "tiles" : "whole"));
  const std::filesystem::path path = objects_.folder() / "truths" / (name.hex() + ".bin");
  if (load(truth, path)) {
    made.truth = std::move(truth);
    return;
  }
  const Clock::time_point begun = Clock::now();
  try {
    compute(truth, reference_, algorithm(), made.inputs);
  } catch (const Error&) {
    if (!in_tiles) throw;
    find_truth(made, false);  // elements that cannot be computed apart: a histogram, a scan
    return;
  }
  made.reference_s = seconds_since(begun);
  made.truth = std::move(truth);
  if (is_worth_keeping(made)) save(made.truth, path);
}

}  // namespace kiln::autotune
