// A subject in the measuring worker: its cases (the timed problem and ragged ones), each with inputs and truth.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measurer.h"
#include "autotune/worker/truth.h"

namespace kiln::autotune {

struct Case {
  Problem problem;
  Inputs inputs;
  Truth truth;
  std::vector<Tolerance> tolerances;  // one an output argument
  double reference_s = 0;             // 0: the truth came from a file
};

class PreparedSubject {
 public:
  // Runs the reference on the timed problem, or takes its results from the cache folder. Throws UsageError when the algorithm reads outside an input,
  // naming input and numbers; Error when the reference refuses its call.
  PreparedSubject(Subject subject, const Objects& objects);

  const Subject& subject() const { return subject_; }
  const Algorithm& algorithm() const { return *subject_.algorithm; }
  const Case& timed() const { return *timed_; }
  Prepared prepared() const;

  // The ragged cases that the reference accepts; each reference runs when its case is asked for.
  const std::vector<Problem>& ragged_problems() const { return ragged_; }
  const Case& ragged(std::size_t i);

  // Of memory, about: inputs and truths.
  std::size_t bytes() const;

 private:
  std::unique_ptr<Case> make_case(const Problem& problem, std::size_t scalar_choice, bool in_tiles) const;
  void find_truth(Case& made, bool in_tiles) const;

  Subject subject_;
  const Objects& objects_;
  generators::host::Loaded reference_;
  std::unique_ptr<Case> timed_;
  std::vector<Problem> ragged_;
  std::vector<std::unique_ptr<Case>> ragged_cases_;
};

}  // namespace kiln::autotune
