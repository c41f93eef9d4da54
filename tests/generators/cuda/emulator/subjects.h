// Small kernels with their inputs, their launch and a judge of what they wrote: what the emulator is tested on.
#pragma once

#include <functional>
#include <string>

#include "generators/cuda/emulator/compiled.h"
#include "generators/cuda/emulator/launch.h"

namespace kiln::generators::cuda::emulator {

struct Outcome {
  std::string word;  // "right", the kind of the fault, or what the judge says: "wrong numbers", "unwritten output", "counter left over"
  std::string text;  // the message
  Report report;
};

// Launches the subject's kernel over the memory and returns when its results lie there: the emulator's run, or a device.
using Runner = std::function<Report(const Launch&, Memory&, void** arguments)>;

struct Subject {
  std::string kernel;  // kernels/<kernel>.cu has a function of this name
  std::string head;    // what stands before its text
  Launch launch;       // all but the seed
  std::function<Outcome(const Runner&, const Launch&)> run;
};

Subject ring();
Subject multicast();
Subject split();
Subject turns();
Subject dependent();
Subject layouts(int span, bool a_mn, bool b_mn);
Subject product_e4m3();
Subject moves();
Subject turnstile();
Subject map_ring();
Subject row_softmax();
Subject matvec();
Subject numbers();
Subject every_move();
Subject every_width(bool is_e4m3, bool b_mn);  // E4M3 has no MN-major operands

std::string text_of(const Subject& subject);  // throws std::runtime_error where the kernel's file is missing
// `from` must stand there exactly once.
std::string replaced(std::string text, const std::string& from, const std::string& to);
Outcome outcome(const Subject& subject, const Compiled& kernel, unsigned seed);

}  // namespace kiln::generators::cuda::emulator
