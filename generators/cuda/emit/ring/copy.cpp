// Who copies: one thread of the first warpgroup fills the stages, as far ahead as there are empty ones.
#include <fmt/format.h>

#include "generators/cuda/emit/ring/kernel.h"

namespace kiln::generators::cuda {

void RingKernel::copy() {
  lines_.open("if (warpgroup == 0)");
  if (has_roles()) lines_.add(fmt::format("regs_shrink<{}>();", plan_.roles().producer_registers));
  lines_.open("if (t == 0)");
  lines_.add("int s = 0;");
  lines_.add("u32 parity = 1;  // all are empty");
  if (is_split()) {
    lines_.open("for (int k = from; k < to; ++k)");
    copy_step();
    lines_.close();
  } else {
    lines_.open("for (int i = blockIdx.x; i < tiles_p * tiles_q; i += gridDim.x)");
    lines_.add("const Place at = place_of(i, tiles_p, tiles_q, group);");
    lines_.open("for (int k = 0; k < steps; ++k)");
    copy_step();
    lines_.close();
    lines_.close();
  }
  lines_.close();
  lines_.reopen("else");
}

void RingKernel::copy_step() {
  lines_.add("mbar_wait(empty(s), parity);");
  lines_.add("mbar_expect_tx(full(s), P_BYTES + Q_BYTES);");
  copy_side(plan_.p, "p", "smem + s * P_BYTES");
  copy_side(plan_.q, "q", "smem + AT_Q + s * Q_BYTES");
  next_stage();
}

// The matrices of a side one after the other: where terms are neighbours within each line of them, else all of the one and then all of the other.
void RingKernel::copy_side(const RingSide& side, const std::string& letter, const std::string& at) {
  const int bytes = 128 * (side.has_terms_inside ? side.tile : side.tile / plan_.line() * plan_.depth);
  for (int product = 0; product < static_cast<int>(side.operands.size()); ++product)
    copy_matrix(side, product, letter, product == 0 ? at : fmt::format("{} + {}", at, product * bytes));
}

// Boxes of 128 bytes a line: so many terms of all rows, or so many rows of all terms.
void RingKernel::copy_matrix(const RingSide& side, int product, const std::string& letter, std::string to) {
  const std::string& map = maps_[static_cast<std::size_t>(product) + (letter == "p" ? 0 : plan_.p.operands.size())];
  const int boxes = (side.has_terms_inside ? plan_.depth : side.tile) / plan_.line();
  const int box_bytes = 128 * (side.has_terms_inside ? side.rows() : plan_.depth);
  std::string x = side.has_terms_inside ? "k * DEPTH" : "at." + letter;
  const std::string y = side.has_terms_inside ? "at." + letter : "k * DEPTH";
  if (boxes > 1) {
    lines_.add("#pragma unroll");
    to += fmt::format(" + j * {}", box_bytes);
    x += fmt::format(" + j * {}", plan_.line());
  }
  const std::string loop = boxes > 1 ? fmt::format("for (int j = 0; j < {}; ++j) ", boxes) : "";
  lines_.add(fmt::format("{}tma_load({}, &{}, full(s), {}, {}, hint_{});", loop, to, map, x, y, letter));
}

}  // namespace kiln::generators::cuda
