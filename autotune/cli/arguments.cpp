#include "autotune/cli/arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>

#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

struct Unit {
  char letter;
  double seconds;
};
// More machines than anyone tunes on; the numbers must fit an int.
constexpr std::int64_t kMostShards = 1'000'000;

constexpr Unit kUnits[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

[[noreturn]] void bad_duration(const std::string& flag, const std::string& text, const std::string& why) {
  throw UsageError(fmt::format("{} {}: {}; a duration is written as 90s, 10m, 8h or 1h30m", flag, text.empty() ? "''" : text, why));
}

// The longest number at the start of `text` without sign or exponent; 0 characters when there is none.
std::size_t number_length(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  return end == std::string_view::npos ? text.size() : end;
}

double read_number(std::string_view digits, const std::string& flag, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    bad_duration(flag, text, digits.empty() ? "a number is missing" : fmt::format("`{}` is no number", digits));
  return value;
}

}  // namespace

double parse_duration(const std::string& flag, const std::string& text) {
  std::string_view rest = text;
  double seconds = 0;
  std::size_t next_unit = 0;
  if (rest.empty()) bad_duration(flag, text, "there is nothing");
  while (!rest.empty()) {
    const std::string_view digits = rest.substr(0, number_length(rest));
    const double value = read_number(digits, flag, text);
    rest.remove_prefix(digits.size());
    if (rest.empty()) bad_duration(flag, text, fmt::format("`{}` has no unit", digits));
    std::size_t unit = 0;
    while (unit < std::size(kUnits) && kUnits[unit].letter != rest.front()) ++unit;
    if (unit == std::size(kUnits)) bad_duration(flag, text, fmt::format("`{}` is no unit (d, h, m, s are)", rest.front()));
    if (unit < next_unit) bad_duration(flag, text, fmt::format("`{}` comes again or too late", rest.front()));
    next_unit = unit + 1;
    seconds += value * kUnits[unit].seconds;
    rest.remove_prefix(1);
  }
  if (!(seconds > 0)) bad_duration(flag, text, "that is no time at all");
  return seconds;
}

double parse_until(const std::string& flag, const std::string& text, std::time_t now) {
  int hour = 0, minute = 0, second = 0, used = 0;
  const bool is_short = std::sscanf(text.c_str(), "%2d:%2d%n", &hour, &minute, &used) == 2 && used == static_cast<int>(text.size());
  const bool is_long = !is_short && std::sscanf(text.c_str(), "%2d:%2d:%2d%n", &hour, &minute, &second, &used) == 3 &&
                       used == static_cast<int>(text.size());
  const bool is_time = (is_short || is_long) && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
  if (!is_time) throw UsageError(fmt::format("{} {}: a time of day is written as 07:00 or 23:30:00, local time", flag, text.empty() ? "''" : text));
  std::tm local{};
  localtime_r(&now, &local);
  local.tm_hour = hour;
  local.tm_min = minute;
  local.tm_sec = second;
  local.tm_isdst = -1;
  std::time_t then = std::mktime(&local);
  if (then <= now) {
    local.tm_mday += 1;  // mktime carries into the next month, and knows a day that is an hour shorter
    local.tm_hour = hour;
    local.tm_isdst = -1;
    then = std::mktime(&local);
  }
  return std::difftime(then, now);
}

std::optional<double> parse_budget(const std::string& for_, const std::string& until, std::time_t now) {
  if (!for_.empty() && !until.empty()) throw UsageError("--for and --until exclude each other");
  if (!for_.empty()) return parse_duration("--for", for_);
  if (!until.empty()) return parse_until("--until", until, now);
  return std::nullopt;
}

std::string print_duration(double seconds) {
  auto rest = static_cast<std::int64_t>(std::llround(seconds));
  if (rest < 120) return fmt::format("{}s", rest);
  std::string text;
  for (const Unit& unit : kUnits) {
    const auto length = static_cast<std::int64_t>(unit.seconds);
    if (rest >= length) text += fmt::format("{}{}", rest / length, unit.letter);
    rest %= length;
  }
  return text;
}

std::int64_t parse_whole(const std::string& flag, const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError(fmt::format("{} {}: expected a whole number", flag, text.empty() ? "''" : text));
  if (value < least) throw UsageError(fmt::format("{} {}: must be at least {}", flag, text, least));
  if (value > most) throw UsageError(fmt::format("{} {}: must be at most {}", flag, text, most));
  return value;
}

Shard parse_shard(const std::string& flag, const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) throw UsageError(fmt::format("{} {}: a shard is written as 1/4, the first of four", flag, text));
  const std::int64_t index = parse_whole(flag, text.substr(0, slash), 1, kMostShards);
  const std::int64_t count = parse_whole(flag, text.substr(slash + 1), 1, kMostShards);
  if (index > count) throw UsageError(fmt::format("{} {}: there is no shard {} of {}", flag, text, index, count));
  return {static_cast<int>(index - 1), static_cast<int>(count)};
}

}  // namespace kiln::autotune::cli
