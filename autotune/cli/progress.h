// Progress on stderr: one line that is redrawn on a terminal, plain `key=value` lines otherwise.
#pragma once

#include <memory>

#include "autotune/progress.h"

namespace kiln::autotune::cli {

enum class Loudness { quiet, normal };

// Quiet keeps the notes and drops the steps. NO_COLOR and a dumb terminal are honoured.
std::unique_ptr<Progress> make_progress(Loudness loudness);

// The bar itself, for tests: at most `width` columns.
std::string draw_bar(const Step& step, int width, bool colour);
// The greppable form of the same step.
std::string plain_line(const Step& step);

}  // namespace kiln::autotune::cli
