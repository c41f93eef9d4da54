// The values of flags, from text: durations, times of day, whole numbers, shards. What cannot be read throws UsageError naming the flag,
// what was found and what would do.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "autotune/session.h"

namespace kiln::autotune::cli {

// "90s", "10m", "8h", "1h30m", "30d", "1.5h": units fall from left to right. Seconds, more than 0.
double parse_duration(const std::string& flag, const std::string& text);

// "07:00" or "07:00:30", local time: seconds from `now` to the next such moment, at most a day.
double parse_until(const std::string& flag, const std::string& text, std::time_t now);

// How long, of a verb that has --for and --until: nothing where neither was given. Throws UsageError for both.
std::optional<double> parse_budget(const std::string& for_, const std::string& until, std::time_t now);

std::string print_duration(double seconds);  // "90s", "10m", "1h30m", "30d"; parses back to the whole second

// A whole number in decimal, in [least, most].
std::int64_t parse_whole(const std::string& flag, const std::string& text, std::int64_t least, std::int64_t most = INT64_MAX);

Shard parse_shard(const std::string& flag, const std::string& text);  // "2/4": the second of four, Shard{1, 4}

}  // namespace kiln::autotune::cli
