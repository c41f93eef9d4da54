// Who multiplies: the other warpgroups, each with the sums of its part of a tile, or of whole tiles in turn.
#include <fmt/format.h>

#include "generators/cuda/emit/ring/kernel.h"

namespace kiln::generators::cuda {
namespace {

// Named barriers: one for each consumer among itself, one for each to wait for its turn, one for all of them.
constexpr int kTurn = 4;

}  // namespace

void RingKernel::multiply() {
  if (has_roles()) lines_.add(fmt::format("regs_grow<{}>();", plan_.roles().consumer_registers));
  lines_.add("const int consumer = warpgroup - 1, warp = t / 32, lane = t % 32;");
  lines_.add(fmt::format("const u32 buffers = smem + AT_STORE + consumer * {} * BUFFER_BYTES;", plan_.store_buffers));
  if (plan_.store_buffers > 1) lines_.add("int stores = 0;");
  if (plan_.is_pingpong) {
    lines_.add(fmt::format("if (consumer == 1) bar_arrive({}, 256);  // the other begins", kTurn));
    lines_.add("u32 done = 0;  // steps of all tiles before");
    lines_.open("for (int i = blockIdx.x, turn = 0; i < tiles_p * tiles_q; i += gridDim.x, ++turn, done += steps)");
    lines_.add("if (turn % 2 != consumer) continue;");
    lines_.add("int s = done % STAGES;");
    lines_.add("u32 parity = done / STAGES % 2;");
  } else {
    lines_.add("int s = 0;");
    lines_.add("u32 parity = 0;");
    if (!is_split()) lines_.open("for (int i = blockIdx.x; i < tiles_p * tiles_q; i += gridDim.x)");
  }
  if (!is_split()) lines_.add("const Place at = place_of(i, tiles_p, tiles_q, group);");
  multiply_tile();
  if (is_split()) share_sums();
  store_tile();
  if (!is_split()) lines_.close();
  lines_.add("if (t == 0) bulk_wait_all();");
  if (is_split()) lines_.add("cluster_sync();  // no block ends while another reads its sums");
  lines_.close();
}

void RingKernel::multiply_tile() {
  const int high = plan_.instructions_high(), each = sums_of_an_instruction();
  const std::string first = is_split() ? "from" : "0", last = is_split() ? "to" : "steps";
  prefetch_operands();
  lines_.add(high > 1 ? fmt::format("float acc[{}][{}];", high, each) : fmt::format("float acc[{}];", each));
  if (plan_.is_pingpong) lines_.add(fmt::format("bar_sync({} + consumer, 256);", kTurn));
  if (plan_.is_promoted()) {
    clear_sums();
  } else {
    lines_.add("int previous = 0;");
  }
  lines_.open(fmt::format("for (int k = {}; k < {}; ++k)", first, last));
  if (plan_.is_promoted()) {
    promoted_step();
  } else {
    step();
  }
  lines_.close();
  if (plan_.is_promoted()) return;
  if (plan_.is_pingpong) lines_.add(fmt::format("if (i + gridDim.x < tiles_p * tiles_q) bar_arrive({} + (consumer ^ 1), 256);", kTurn));
  lines_.add("wgmma_wait<0>();");
  release(is_split() ? "from < to && " : "");
}

// One step is under way while the next is begun: its stage is given back then.
void RingKernel::step() {
  const int high = plan_.instructions_high();
  const bool is_shared = plan_.consumers_of_a_tile() > 1;
  lines_.add("mbar_wait(full(s), parity);");
  const int results = plan_.results_high();
  const std::string own = is_shared ? " + " + offset_of_rows(plan_.p, results > 1 ? fmt::format("consumer * {}", results) : "consumer") : "";
  lines_.add(fmt::format("const u32 p = smem + s * P_BYTES{}, q = smem + AT_Q + s * Q_BYTES;", own));
  lines_.add("wgmma_fence();");
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int step = 0; step < {}; ++step)", plan_.depth * plan_.element_bytes() / 32));
  std::string base = "p", indent = "  ";
  if (high > 1) {
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("  for (int high = 0; high < {}; ++high)", high));
    base += " + " + offset_of_instruction();
    indent += "  ";
  }
  const std::string adds = is_split() ? "k != from || step != 0" : "k != 0 || step != 0";
  lines_.add(fmt::format("{}{}::mma({}, {}, {}, {});", indent, instruction(), high > 1 ? "acc[high]" : "acc",
                         descriptor(plan_.p, base), descriptor(plan_.q, "q"), adds));
  lines_.add("wgmma_commit();");
  lines_.add("wgmma_wait<1>();");
  release(is_split() ? "k != from && " : "k != 0 && ");
  lines_.add("previous = s;");
  next_stage();
}

void RingKernel::next_stage() {
  lines_.open("if (++s == STAGES)");
  lines_.add("s = 0;");
  lines_.add("parity ^= 1;");
  lines_.close();
}

void RingKernel::clear_sums() {
  const int high = plan_.instructions_high();
  if (high > 1) lines_.open_unrolled("high", high);
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int j = 0; j < {}; ++j) {} = 0.0f;", sums_of_an_instruction(), sums("high", "j")));
  if (high > 1) lines_.close();
}

// The tensor cores truncate as they add 8-bit floats: 128 terms at a time, which are added to the sums here. All is done before the stage is given back: a
// step under way over the loop's end whose sums are read in it would make the compiler serialize all of them (C7514).
void RingKernel::promoted_step() {
  const bool is_shared = plan_.consumers_of_a_tile() > 1;
  const int high = plan_.instructions_high();
  lines_.add("mbar_wait(full(s), parity);");
  const std::string own = is_shared ? " + " + offset_of_rows(plan_.p, high > 1 ? fmt::format("consumer * {}", high) : "consumer") : "";
  lines_.add(fmt::format("const u32 p = smem + s * P_BYTES{}, q = smem + AT_Q + s * Q_BYTES;", own));
  if (plan_.groups_under_way() > 1) {
    two_groups_at_once();
  } else {
    groups_one_by_one();
  }
  lines_.add("if (t == 0) mbar_arrive(empty(s));");
  next_stage();
}

void RingKernel::groups_one_by_one() {
  const int high = plan_.instructions_high(), each = sums_of_an_instruction(), parts = plan_.depth / plan_.line();
  if (parts > 1) lines_.open_unrolled("line", parts);
  if (high > 1) lines_.open_unrolled("high", high);
  lines_.add(fmt::format("float part[{}];", each));
  multiply_group("part", parts > 1 ? "line" : "", high > 1 ? "high" : "");
  lines_.add("wgmma_wait<0>();");
  add_group("part", "high");
  if (high > 1) lines_.close();
  if (parts > 1) lines_.close();
}

// Each has a name of its own once the loop is unrolled, registers that no index chooses.
void RingKernel::two_groups_at_once() {
  const int high = plan_.instructions_high(), groups = plan_.groups();
  const std::string line = plan_.depth == plan_.line() ? "" : high == 1 ? "unit" : fmt::format("(unit / {})", high);
  const std::string last_high = fmt::format("(unit - 1) % {}", high);
  lines_.add("// While the sums of a group are added, the next is multiplied.");
  lines_.add(fmt::format("float part[2][{}];", sums_of_an_instruction()));
  lines_.open_unrolled("unit", groups + 1);
  lines_.open(fmt::format("if (unit < {})", groups));
  multiply_group("part[unit % 2]", line, high == 1 ? "" : fmt::format("(unit % {})", high));
  lines_.close();
  lines_.add("if (unit == 0) continue;");
  lines_.add(fmt::format("if (unit < {}) {{ wgmma_wait<1>(); }} else {{ wgmma_wait<0>(); }}", groups));
  add_group("part[(unit - 1) % 2]", last_high);
  lines_.close();
}

// `line`, `high`: which of a step's lines of 128 terms and of a consumer's 64 rows, or empty where there is one.
void RingKernel::multiply_group(const std::string& part, const std::string& line, const std::string& high) {
  std::string p = "p", q = "q";
  if (!line.empty()) p += fmt::format(" + {} * {}", line, plan_.p.tile * 128), q += fmt::format(" + {} * {}", line, plan_.q.tile * 128);
  if (!high.empty()) p += " + " + offset_of_rows(plan_.p, high);
  lines_.add("wgmma_fence();");
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int step = 0; step < 4; ++step) {}::mma({}, wgmma_desc({} + step * 32, 16), wgmma_desc({} + step * 32, 16), step != 0);", instruction(), part, p, q));
  lines_.add("wgmma_commit();");
}

void RingKernel::add_group(const std::string& part, const std::string& high) {
  lines_.add(fmt::format("pin({});", part));
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int j = 0; j < {}; ++j) {} += {}[j];", sums_of_an_instruction(), sums(high, "j"), part));
}

std::string RingKernel::instruction() const {
  if (plan_.is_of_codes()) return "WgmmaE4M3<TILE_Q>";
  const std::string wide = plan_.q.operands.size() > 1 ? fmt::format("{} * TILE_Q", plan_.q.operands.size()) : "TILE_Q";
  return fmt::format("{}<{}, {}, {}>", plan_.element().kind == TypeClass::brain_float ? "Wgmma" : "WgmmaF16", wide, plan_.p.has_terms_inside ? 0 : 1, plan_.q.has_terms_inside ? 0 : 1);
}

void RingKernel::release(const std::string& condition) { lines_.add(fmt::format("if ({}t == 0) mbar_arrive(empty(previous));", condition)); }

std::string RingKernel::sums(const std::string& high, const std::string& index) const {
  return plan_.instructions_high() > 1 ? fmt::format("acc[{}][{}]", high, index) : fmt::format("acc[{}]", index);
}

// Rows lie 128 bytes apart, or 64 of them side by side for all terms.
std::string RingKernel::offset_of_rows(const RingSide& side, const std::string& rows_by_64) const {
  return fmt::format("{} * {}", rows_by_64, side.has_terms_inside ? 64 * 128 : plan_.depth * 128);
}

// Those of a consumer follow one another; where P has two products and consumers share it, the second one's lie behind all of the first.
std::string RingKernel::offset_of_instruction() const {
  const bool is_apart = plan_.p.operands.size() > 1 && plan_.consumers_of_a_tile() > 1;
  return offset_of_rows(plan_.p, is_apart ? fmt::format("high * {}", plan_.p.tile / 64) : "high");
}

// Of one instruction's terms: 32 bytes further within a line, whose boxes follow one another; or 16 lines further.
std::string RingKernel::descriptor(const RingSide& side, const std::string& base) const {
  if (!side.has_terms_inside) return fmt::format("wgmma_desc({} + step * 2048, {})", base, plan_.depth * 128);
  if (plan_.depth == plan_.line()) return fmt::format("wgmma_desc({} + step * 32, 16)", base);
  return fmt::format("wgmma_desc({} + step / 4 * {} + step % 4 * 32, 16)", base, side.rows() * 128);
}

}  // namespace kiln::generators::cuda
