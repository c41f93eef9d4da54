// What the session tells whoever watches: a value a step, drawn by the command line as a bar or as plain lines.
#pragma once

#include <map>
#include <string>

namespace kiln::autotune {

struct Step {
  std::string phase;          // "reading", "baseline", "compiling", "measuring", "finals", "choosing"
  std::string problem;        // as text; empty when the step belongs to none
  int done = 0, total = 0;    // of this phase; total 0: not known
  int tried = 0;              // candidates of this problem so far, rejected ones included
  double best_ratio = 0;      // time / baseline of the best so far, 0 before there is one
  double noise = 0;           // the A/A floor as a fraction, 0 before it is known
  std::map<std::string, int> rejected;  // reason -> count, this problem
  double seconds_left = 0;    // of the budget; infinity: there is none
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void step(const Step& step) = 0;
  // Something that changes how results are read: contention, a resumed run, a baseline that could not run. Also stored as a run event.
  virtual void note(const std::string& line) = 0;
};

}  // namespace kiln::autotune
