// How results leave: 64 rows of P and a chunk of Q at a time, through a buffer in shared memory, swizzled as the tensor map says. What lies outside the output
// the copy leaves out.
#include <fmt/format.h>

#include "generators/cuda/emit/ring/kernel.h"

namespace kiln::generators::cuda {

void RingKernel::store_tile() {
  const int high = plan_.results_high();
  // Chunks outside: what only depends on the chunk, as the columns of a bias, is then alive for one at a time.
  if (plan_.chunks() > 1 || is_split()) {
    lines_.open_unrolled("c", plan_.chunks());
  } else {
    lines_.open("");
  }
  if (high > 1) lines_.open_unrolled("high", high);
  store_chunk();
  if (high > 1) lines_.close();
  lines_.close();
}

void RingKernel::store_chunk() {
  const int high = plan_.results_high();
  const bool is_shared = plan_.consumers_of_a_tile() > 1;
  if (is_split()) gather_sums();
  lines_.add(plan_.store_buffers > 1 ? fmt::format("const u32 buffer = buffers + stores++ % {} * BUFFER_BYTES;", plan_.store_buffers) : "const u32 buffer = buffers;");
  lines_.add(fmt::format("if (t == 0) bulk_wait_read<{}>();", plan_.store_buffers - 1));
  lines_.add("bar_sync(1 + consumer, 128);");
  std::string p = "at.p", q = "at.q";
  if (is_shared) p += fmt::format(" + consumer * {}", 64 * high);
  if (high > 1) p += " + high * 64";
  if (plan_.chunks() > 1) q += fmt::format(" + c * {}", plan_.chunk());
  lines_.add(fmt::format("const int first_row = {}, first_column = {};", plan_.is_swapped ? q : p, plan_.is_swapped ? p : q));
  define_pair();
  fill_buffer();
  lines_.add("fence_async_proxy();");
  lines_.add("bar_sync(1 + consumer, 128);");
  lines_.open("if (t == 0)");
  lines_.add(fmt::format("tma_store(&{}, buffer, first_column, first_row);", maps_.back()));
  lines_.add("bulk_commit();");
  lines_.close();
}

// A thread holds two neighbours along Q in each 8 of Q, at rows of P 8 apart.
void RingKernel::define_pair() {
  const bool is_wide = stored().type == kFloat32;
  lines_.add("// Two results next to each other along q: of 8 along q, in the upper or lower 8 of a warp's 16 along p.");
  lines_.open("auto pair = [&](int block, int half)");
  read_operands();
  if (is_wide) {
    lines_.add(fmt::format("return Vec<8>{{{{__float_as_uint({}), __float_as_uint({})}}}};", value(0), value(1)));
  } else {
    lines_.add(fmt::format("return pack_{}({}, {});", plan_.stores_codes() ? "e4m3" : print(stored().type), value(0), value(1)));
  }
  lines_.close_with(";");
}

std::string RingKernel::line_offset(const std::string& line, const std::string& piece) const {
  const int row = plan_.store_row_bytes(), swizzle = plan_.store_swizzle_bytes();
  if (swizzle == 0) return fmt::format("{} * {} + (({}) << 4)", line, row, piece);
  const std::string phase = swizzle == 128 ? line + " % 8" : swizzle == 64 ? line + " / 2 % 4" : line + " / 4 % 2";
  return fmt::format("{} * {} + (({} ^ {}) << 4)", line, row, piece, phase);
}

// Of 32 and of 8 bits no instruction stores whole matrices: each thread stores what it has. Swapped, a pair lies in two lines.
void RingKernel::fill_by_pairs() {
  const bool is_wide = stored().type == kFloat32;
  lines_.open_unrolled("block", plan_.chunk() / 8);
  lines_.open_unrolled("half", 2);
  if (!plan_.is_swapped) {
    lines_.add(fmt::format("const int line = warp * 16 + half * 8 + lane / 4, piece = {};", is_wide ? "block * 2 + lane % 4 / 2" : "block / 2"));
    lines_.add(fmt::format("st_shared(buffer + {} + {}, pair(block, half));", line_offset("line", "piece"), is_wide ? "lane % 2 * 8" : "block % 2 * 8 + lane % 4 * 2"));
  } else {
    lines_.add(fmt::format("const int line = block * 8 + lane % 4 * 2, piece = {};", is_wide ? "warp * 4 + half * 2 + lane / 16" : "warp"));
    lines_.add("const auto two = pair(block, half);");
    for (const int odd : {0, 1}) {
      const std::string line = odd == 0 ? "line" : "(line + 1)", one = is_wide ? fmt::format("two.w[{}]", odd) : odd == 0 ? "(u8)two" : "(u8)(two >> 8)";
      lines_.add(fmt::format("st_shared(buffer + {} + {}, {});", line_offset(line, "piece"), is_wide ? "lane / 4 % 4 * 4" : "half * 8 + lane / 4", one));
    }
  }
  lines_.close();
  lines_.close();
}

void RingKernel::fill_buffer() {
  if (stored().type.bytes() != 2) return fill_by_pairs();
  const int blocks = plan_.chunk() / 8;
  const bool is_even = blocks % 2 == 0;
  lines_.add("#pragma unroll");
  lines_.open(fmt::format("for (int block = 0; block < {}; block += {})", blocks, is_even ? 2 : 1));
  if (!plan_.is_swapped) {
    lines_.add("const int line = warp * 16 + lane % 16, piece = block + lane / 16;");
    lines_.add(fmt::format("stmatrix_x4(buffer + {}, pair(block, 0), pair(block, 1), pair(block + 1, 0), pair(block + 1, 1));", line_offset("line", "piece")));
  } else if (is_even) {
    lines_.add("const int line = (block + lane / 16) * 8 + lane % 8, piece = warp * 2 + lane / 8 % 2;");
    lines_.add(fmt::format("stmatrix_x4_trans(buffer + {}, pair(block, 0), pair(block, 1), pair(block + 1, 0), pair(block + 1, 1));", line_offset("line", "piece")));
  } else {
    lines_.add("const int line = block * 8 + lane % 8, piece = warp * 2 + lane / 8 % 2;");
    lines_.add(fmt::format("stmatrix_x2_trans(buffer + {}, pair(block, 0), pair(block, 1));", line_offset("line", "piece")));
  }
  lines_.close();
}

}  // namespace kiln::generators::cuda
