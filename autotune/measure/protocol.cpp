#include "autotune/measure/protocol.h"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

constexpr std::string_view kCpuVersion = "kiln-cpu-1", kGpuVersion = "kiln-gpu-1";

// Every number of the protocol under its name, in printing order.
template <typename Numbers, typename Visit>
void for_each_number(Numbers& p, const Visit& visit) {
  visit("sample_us", p.sample_us);
  visit("warm_ms", p.warm_ms);
  visit("screen_samples", p.screen_samples);
  visit("screen_cut", p.screen_cut);
  visit("round_samples", p.round_samples);
  visit("round_ms", p.round_ms);
  visit("rank_samples", p.rank_samples);
  visit("max_samples", p.max_samples);
  visit("max_s", p.max_s);
  visit("final_samples", p.final_samples);
  visit("min_clean_samples", p.min_clean_samples);
}

std::map<std::string, std::string, std::less<>> split_items(std::string_view text) {
  std::map<std::string, std::string, std::less<>> items;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) throw DataError(fmt::format("measuring protocol: `{}` is not key=value", item));
    items.emplace(item.substr(0, equals), item.substr(equals + 1));
  }
  return items;
}

template <typename Number>
void read_number(const std::string& key, const std::string& value, Number& number) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) throw DataError(fmt::format("measuring protocol: {}={} is not a number", key, value));
}

}  // namespace

Protocol gpu_protocol(Cache cache) {
  return {.on = MeasuredOn::gpu,
          .cache = cache,
          .sample_us = 250,
          .warm_ms = 20,
          .screen_samples = 5,
          .round_samples = 5,
          .rank_samples = 15,
          .max_samples = 60,
          .max_s = 2,
          .final_samples = 40,
          .min_clean_samples = 3};
}

Protocol protocol_for(const Device& device, Cache cache, int threads) {
  if (device.gpu) return gpu_protocol(cache);
  Protocol protocol;
  protocol.cache = cache;
  protocol.threads = threads > 0 ? threads : device.cores;
  return protocol;
}

std::string print(const Protocol& protocol) {
  const char* cache = protocol.cache == Cache::hot ? "hot" : "cold";
  std::string text = protocol.on == MeasuredOn::cpu ? fmt::format("{};cache={};threads={};stat=q1", kCpuVersion, cache, protocol.threads)
                                                    : fmt::format("{};cache={};stat=median", kGpuVersion, cache);
  for_each_number(protocol, [&](const char* name, const auto& value) { text += fmt::format(";{}={}", name, value); });
  return text;
}

Protocol parse_protocol(std::string_view text) {
  const std::string_view version = text.substr(0, text.find(';'));
  if (version != kCpuVersion && version != kGpuVersion)
    throw DataError(fmt::format("measuring protocol `{}` is neither `{}` nor `{}`", version, kCpuVersion, kGpuVersion));
  auto items = split_items(text.substr(std::min(text.size(), version.size() + 1)));
  const auto take = [&items](const std::string& key) {
    const auto found = items.find(key);
    if (found == items.end()) throw DataError(fmt::format("measuring protocol: {} is missing", key));
    const std::string value = found->second;
    items.erase(found);
    return value;
  };
  Protocol protocol;
  protocol.on = version == kCpuVersion ? MeasuredOn::cpu : MeasuredOn::gpu;
  const std::string wanted = protocol.on == MeasuredOn::cpu ? "q1" : "median";
  const std::string cache = take("cache"), statistic = take("stat");
  if (cache != "hot" && cache != "cold") throw DataError(fmt::format("measuring protocol: cache={} is neither hot nor cold", cache));
  if (statistic != wanted) throw DataError(fmt::format("measuring protocol: stat={} is not {}", statistic, wanted));
  protocol.cache = cache == "hot" ? Cache::hot : Cache::cold;
  if (protocol.on == MeasuredOn::cpu) read_number("threads", take("threads"), protocol.threads);
  for_each_number(protocol, [&](const char* name, auto& value) { read_number(name, take(name), value); });
  if (!items.empty()) throw DataError(fmt::format("measuring protocol: unknown key {}", items.begin()->first));
  return protocol;
}

}  // namespace kiln::autotune
