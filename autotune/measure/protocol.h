// How a time is taken, as a value with a text form: stored with every measurement, and unlike texts are never compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "autotune/measure/statistics.h"
#include "dsl/device.h"

namespace kiln::autotune {

enum class Cache : std::uint8_t {
  hot,   // the same buffers in every call
  cold,  // buffers in rotation over twice the last-level cache
};

enum class MeasuredOn : std::uint8_t { cpu, gpu };

// The defaults are of a CPU. They come from A/A trials on a shared machine: samples of 100-200 us, interleaved, with the lower quartile err by 0.15 % idle and 0.75 %
// loaded, where a mean errs by 60-400 % and samples of a millisecond by 4 % and more.
struct Protocol {
  MeasuredOn on = MeasuredOn::cpu;
  Cache cache = Cache::hot;
  int threads = 1;              // of a CPU
  double sample_us = 150;       // calls are bundled up to this; a longer call is a sample of its own
  double warm_ms = 5;           // and three calls, before the first sample counts
  int screen_samples = 5;
  double screen_cut = 1.5;      // times the best lower quartile: slower minima are cut_slow; twice that share of slack while noisy
  int round_samples = 10;       // fewer for calls so long that a round passes round_ms
  double round_ms = 50;
  int rank_samples = 60;        // at least, before a comparison may stop
  int max_samples = 400;
  double max_s = 5;             // a contender's own time
  int final_samples = 200;
  int min_clean_samples = 15;   // samples with involuntary switches are dropped while this many remain
  bool operator==(const Protocol&) const = default;

  // What stands for a set of samples: the lower quartile on a CPU, where noise only adds; the median on a GPU, whose clock steps both ways.
  double statistic() const { return on == MeasuredOn::cpu ? kLowerQuartile : kMedian; }
};

// On a GPU: warm by time, since clocks settle by it; captured launches of a quarter of a millisecond a sample; few samples, which scatter by tenths of a percent.
Protocol gpu_protocol(Cache cache);

// How times are taken on a device; `threads` of a CPU's kernels, 0: all usable cores.
Protocol protocol_for(const Device& device, Cache cache, int threads);

// "kiln-cpu-1;cache=hot;threads=2;stat=q1;sample_us=150;…", "kiln-gpu-1;cache=cold;stat=median;…". parse(print(p)) == p.
std::string print(const Protocol& protocol);
Protocol parse_protocol(std::string_view text);  // throws DataError naming the key, or both versions

}  // namespace kiln::autotune
