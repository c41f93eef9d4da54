// The blocks of a cluster share the terms of a tile: each leaves its sums where its ring was, and each adds up a share of the tile, in the order of the parts.
#include <fmt/format.h>

#include "generators/cuda/emit/ring/kernel.h"

namespace kiln::generators::cuda {
namespace {

constexpr int kAllConsumers = 7;  // the barrier of all that multiply

}  // namespace

void RingKernel::share_sums() {
  const int high = plan_.instructions_high(), each = sums_of_an_instruction();
  if (!plan_.is_promoted()) {
    if (high > 1) lines_.add("#pragma unroll");
    lines_.add(high > 1 ? fmt::format("for (int high = 0; high < {}; ++high) pin(acc[high]);", high) : "pin(acc);");
  }
  lines_.add("// All have read the ring: the sums of the part take its place, a word of all threads side by side.");
  lines_.add(plan_.consumers > 1 ? fmt::format("bar_sync({}, {});", kAllConsumers, 128 * plan_.consumers) : "bar_sync(1, 128);");
  lines_.add(fmt::format("const u32 shares = smem + (consumer * {} + t) * 4;", high * each * 128));
  const std::string at = high > 1 ? fmt::format("(high * {} + j)", each) : "j";
  lines_.open("if (from < to)");
  if (high > 1) lines_.open_unrolled("high", high);
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int j = 0; j < {}; ++j) st_shared(shares + {} * 512, {});", each, at, sums("high", "j")));
  if (high > 1) lines_.close();
  lines_.reopen("else");
  lines_.add(fmt::format("for (int j = 0; j < {}; ++j) st_shared(shares + j * 512, 0.0f);", high * each));
  lines_.close();
  lines_.add("cluster_sync();  // of those that multiply: it waits for nobody who has ended");
  lines_.add(fmt::format("u32 of_part[{}];  // the same place in each block of the cluster", plan_.parts));
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int part = 0; part < {}; ++part) of_part[part] = mapa(shares, part);", plan_.parts));
}

// Inside the loop over chunks, those that are another block's left out.
void RingKernel::gather_sums() {
  const int words = plan_.chunk() / 2, high = plan_.instructions_high();
  std::string chunk = high > 1 ? fmt::format("high * {} + c", plan_.chunks()) : "c";
  if (plan_.consumers > 1) chunk += fmt::format(" + consumer * {}", high * plan_.chunks());
  if (chunk != "c") chunk = "(" + chunk + ")";
  lines_.add(fmt::format("if ({} % {} != rank) continue;", chunk, plan_.parts));
  const std::string first = high > 1 ? fmt::format("high * {} + c * {}", sums_of_an_instruction(), words) : fmt::format("c * {}", words);
  lines_.add(fmt::format("float sums[{}];", words));
  lines_.open_unrolled("j", words);
  lines_.add(fmt::format("const u32 share = ({} + j) * 512;", first));
  lines_.add("sums[j] = ld_cluster(of_part[0] + share);");
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int part = 1; part < {}; ++part) sums[j] += ld_cluster(of_part[part] + share);", plan_.parts));
  lines_.close();
}

}  // namespace kiln::generators::cuda
