// What a verb of the program is: its words for the help, its flags, and what it does with them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kiln::autotune::cli {

// What every verb takes.
struct Common {
  std::string db;        // --db, else $KILN_DB, else kiln.db
  bool json = false;     // one document on stdout
  bool quiet = false;    // no progress on stderr
  std::string command;   // the command line as typed
};

// Exit codes; errors become theirs in main.
inline constexpr int kDone = 0;
inline constexpr int kNegative = 1;
inline constexpr int kUsage = 2;
inline constexpr int kEnvironment = 3;
inline constexpr int kData = 4;

using Action = std::function<int(const Common&)>;  // returns the exit code

struct Verb {
  std::string name;      // "tune"; two words, "demand import", are a verb of a group
  std::string sentence;  // for the list of verbs
  std::string example;   // a command that works
  Action (*declare)(CLI::App& flags);
};

// In the order of a night's work. One file of verbs/ each.
const std::vector<Verb>& verbs();

}  // namespace kiln::autotune::cli
