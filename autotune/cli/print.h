// What verbs print, where it belongs.
#pragma once

#include <string>

namespace kiln::autotune::cli {

// Results: to stdout, whole. Throws EnvironmentError when they cannot be written (a full disk), so that a script does not take half a document.
void print_result(const std::string& text);

// One line about how things go, to stderr: "kiln: …".
void print_note(const std::string& line);

}  // namespace kiln::autotune::cli
