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
  Truth truth;  // empty until it is asked for
  std::vector<Tolerance> tolerances;  // one an output argument
  double reference_s = 0;             // 0: the truth came from a file
};

class PreparedSubject {
 public:
  // Makes the inputs. Throws UsageError when the algorithm reads outside one of them, naming input and numbers.
  PreparedSubject(Subject subject, const Objects& objects);

  const Subject& subject() const { return subject_; }
  const Algorithm& algorithm() const { return *subject_.algorithm; }
  // Of the timed problem: all that timing takes.
  const Inputs& inputs() const { return timed_->inputs; }

  // What these give has its truth: the reference runs when a case is first asked for, where the cache folder has not its results. Throw Error when it refuses
  // its call.
  const Case& timed();
  Prepared prepared();
  // The ragged cases that the reference accepts.
  const std::vector<Problem>& ragged_problems() const { return ragged_; }
  const Case& ragged(std::size_t i);

  // Of memory, about: inputs and truths.
  std::size_t bytes() const;

 private:
  std::unique_ptr<Case> make_case(const Problem& problem, std::size_t scalar_choice) const;
  void find_truth(Case& made, bool in_tiles) const;

  Subject subject_;
  const Objects& objects_;
  generators::host::Loaded reference_;
  std::unique_ptr<Case> timed_;
  std::vector<Problem> ragged_;
  std::vector<std::unique_ptr<Case>> ragged_cases_;
};

}  // namespace kiln::autotune
