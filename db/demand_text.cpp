#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "db/demand.h"
#include "dsl/error.h"

namespace kiln::db {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// The first word and what follows it, trimmed.
std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
  const std::size_t end = text.find_first_of(kBlank);
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), trim(text.substr(end))};
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Demand read(std::string_view text) {
    for (std::size_t start = 0; start <= text.size(); ++line_) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      if (const std::string_view line = trim(text.substr(start, end - start)); !line.empty()) {
        if (line.front() == '#') read_header(trim(line.substr(1)));
        else read_count(line);
      }
      start = end + 1;
    }
    return std::move(demand_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw UsageError(fmt::format("{}:{}: {}", name_, line_, what)); }

  std::int64_t count(std::string_view word, const char* what) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range) fail(fmt::format("`{}` is too large: {} may be {} at most", word, what, INT64_MAX));
    if (error != std::errc() || end != word.data() + word.size() || value < 0)
      fail(fmt::format("`{}` is not a number of calls; a line is a count and a problem, as in `8000 matmul(m=256, n=1024, k=1024, f32)`", word));
    return value;
  }

  // A comment that begins with none of these words is only a comment.
  void read_header(std::string_view text) {
    const auto [word, rest] = split_word(text);
    if (word == "application") read_application(rest);
    else if (word == "window") read_window(rest);
    else if (word == "tier") read_tier(rest);
    else if (word == "overflow") demand_.overflow += count(rest, "an overflow");
  }

  void read_application(std::string_view name) {
    if (name.empty()) fail("`# application` needs a name, as in `# application renderer`");
    if (has_application_) fail(fmt::format("a second `# application`: the file is already `{}`'s; one file is one application's", demand_.application));
    demand_.application = name;
    has_application_ = true;
  }

  void read_window(std::string_view text) {
    const auto [start, end] = split_word(text);
    if (demand_.window_start) fail("a second `# window`: one file covers one span of time");
    try {
      if (seconds_since_epoch(std::string(end)) <= seconds_since_epoch(std::string(start)))
        fail(fmt::format("the window ends at {}, not after its start {}", end, start));
    } catch (const DataError& error) {
      fail(fmt::format("`# window` needs a start and an end: {}", error.what()));
    }
    demand_.window_start = start;
    demand_.window_end = end;
  }

  void read_tier(std::string_view tier) {
    if (tier != "exact" && tier != "bucket" && tier != "generic") fail(fmt::format("`{}` is no tier; the tiers are exact, bucket and generic", tier));
    tier_ = tier;
  }

  void read_count(std::string_view line) {
    const auto [word, problem] = split_word(line);
    const std::int64_t calls = count(word, "a count");
    if (problem.empty()) fail(fmt::format("the problem is missing after `{}`, as in `{} matmul(m=256, n=1024, k=1024, f32)`", word, word));
    if (problem.find('(') == std::string_view::npos || problem.back() != ')')
      fail(fmt::format("`{}` is no problem; a problem is `operator(symbol=extent, …)`", problem));
    demand_.lines.push_back({calls, std::string(problem), tier_, line_});
  }

  const std::string& name_;
  Demand demand_;
  std::string tier_ = "exact";
  bool has_application_ = false;
  int line_ = 1;
};

}  // namespace

Demand parse_demand(std::string_view text, const std::string& name) { return Reader(name).read(text); }

std::string print(const Demand& demand) {
  std::string text = fmt::format("# application {}\n", demand.application);
  if (demand.window_start) text += fmt::format("# window {} {}\n", *demand.window_start, *demand.window_end);
  std::string tier = "exact";
  for (const DemandLine& line : demand.lines) {
    if (line.tier != tier) text += fmt::format("# tier {}\n", tier = line.tier);
    text += fmt::format("{} {}\n", line.calls, line.problem);
  }
  if (demand.overflow > 0) text += fmt::format("# overflow {}\n", demand.overflow);
  return text;
}

}  // namespace kiln::db
