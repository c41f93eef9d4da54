// Counting distinct cache lines of affine accesses: merge spans that overlap, round the innermost run, multiply the rest.
#include "generators/host/footprint.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace kiln::generators::host {
namespace {

using Shape = std::vector<std::pair<std::int64_t, std::int64_t>>;  // (step in bytes, count), sorted

// `bases` as one more span when they are evenly spaced, or as several when they are a grid. Empties nothing: what does not fit stays in `bases`.
// {0,16,32, 100,116,132} becomes the spans 3 x 16 and 2 x 100.
void take_grid(std::vector<std::int64_t>& bases, Shape& shape) {
  while (bases.size() > 1) {
    const std::int64_t step = bases[1] - bases[0];
    std::size_t run = 2;
    while (run < bases.size() && bases[run] - bases[run - 1] == step) ++run;
    if (bases.size() % run != 0) return;
    std::vector<std::int64_t> starts;
    for (std::size_t i = 0; i < bases.size(); i += run) {
      for (std::size_t j = 0; j < run; ++j)
        if (bases[i + j] != bases[i] + static_cast<std::int64_t>(j) * step) return;
      starts.push_back(bases[i]);
    }
    shape.emplace_back(step, static_cast<std::int64_t>(run));
    bases = std::move(starts);
  }
}

std::int64_t whole_lines(std::int64_t bytes, std::int64_t line_bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

// Spans with steps inside the current run lengthen it; a span whose step is a multiple of the last broken span's, within its reach, lengthens that.
std::int64_t lines_of(Shape shape, std::int64_t element_bytes, std::int64_t line_bytes) {
  std::sort(shape.begin(), shape.end());
  std::int64_t run = element_bytes, repeats = 1;
  std::int64_t broken_step = 0, broken_count = 1;
  for (const auto& [step, count] : shape) {
    if (step <= std::max(run, line_bytes) && broken_step == 0) {
      run += step * (count - 1);
    } else if (broken_step != 0 && step % broken_step == 0 && step / broken_step <= broken_count) {
      broken_count += step / broken_step * (count - 1);
    } else {
      repeats *= broken_count;
      broken_step = step;
      broken_count = count;
    }
  }
  return whole_lines(run, line_bytes) * repeats * broken_count;
}

Shape shape_of(const Place& place, std::int64_t element_bytes, const std::function<bool(int)>& walks) {
  Shape shape;
  for (const Span& span : place.spans)
    if (span.step != 0 && span.count > 1 && (span.loop == Span::kLane || walks(span.loop)))
      shape.emplace_back(std::abs(span.step) * element_bytes, span.count);
  std::sort(shape.begin(), shape.end());
  return shape;
}

// The lowest element: a span that walks downwards starts at its far end.
std::int64_t low_end(const Place& place, std::int64_t element_bytes, const std::function<bool(int)>& walks) {
  std::int64_t low = place.base;
  for (const Span& span : place.spans)
    if (span.step < 0 && (span.loop == Span::kLane || walks(span.loop))) low += span.step * (span.count - 1);
  return low * element_bytes;
}

std::int64_t times(const std::vector<Span>& spans, const std::function<bool(int)>& walks) {
  std::int64_t product = 1;
  for (const Span& span : spans)
    if (span.loop == Span::kLane || walks(span.loop)) product *= span.count;
  return product;
}

std::int64_t joined(Shape shape, std::vector<std::int64_t> bases, std::int64_t element_bytes, std::int64_t line_bytes) {
  std::sort(bases.begin(), bases.end());
  bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
  take_grid(bases, shape);
  return lines_of(shape, element_bytes, line_bytes) * static_cast<std::int64_t>(bases.size());
}

// A node's own accesses with those of everything inside it, and the loops inside.
struct Subtree {
  std::vector<const Access*> accesses;
  std::set<int> loops;
};

void collect(const LoopNode& node, Subtree& out) {
  for (const Access& access : node.accesses) out.accesses.push_back(&access);
  for (const LoopNode& child : node.children) {
    if (child.kind != LoopNode::Kind::allocation) out.loops.insert(child.id);
    collect(child, out);
  }
}

class Converter {
 public:
  Converter(const LoopTree& program, std::int64_t line_bytes) : program_(program), line_bytes_(line_bytes) {}

  FootprintTree tree() const {
    FootprintTree tree;
    for (const Buffer& buffer : program_.buffers) tree.buffers.push_back({buffer.name, buffer.bytes, buffer.is_argument, false});
    tree.root = part(program_.root);
    return tree;
  }

 private:
  FootprintPart part(const LoopNode& node) const {
    FootprintPart out{.trips = node.trips, .flops = node.flops, .touched = {}, .direct = {}, .children = {}};
    Subtree inside;
    collect(node, inside);
    out.touched = touched(inside.accesses, [&](int loop) { return inside.loops.contains(loop); });
    std::vector<const Access*> own;
    for (const Access& access : node.accesses) own.push_back(&access);
    out.direct = touched(own, [](int) { return false; });
    for (const LoopNode& child : node.children) out.children.push_back(inner(child));
    return out;
  }

  FootprintNode inner(const LoopNode& node) const {
    FootprintNode out{.kind = FootprintNode::Kind::loop, .name = node.name, .buffer = node.buffer, .whole = {}, .swept = {}, .parts = {part(node)}};
    if (node.kind == LoopNode::Kind::allocation) {
      out.kind = FootprintNode::Kind::allocation;
      out.parts.front().trips = 1;
      return out;
    }
    if (node.kind == LoopNode::Kind::parallel_loop) out.kind = FootprintNode::Kind::parallel_loop;
    Subtree inside;
    collect(node, inside);
    out.whole = touched(inside.accesses, [&](int loop) { return loop == node.id || inside.loops.contains(loop); });
    out.swept = out.whole;
    return out;
  }

  BufferBytes touched(const std::vector<const Access*>& accesses, const std::function<bool(int loop)>& walks) const {
    return touched_bytes(accesses, program_.buffers, walks, line_bytes_);
  }

  const LoopTree& program_;
  std::int64_t line_bytes_;
};

}  // namespace

BufferBytes touched_bytes(const std::vector<const Access*>& accesses, const std::vector<Buffer>& buffers, const std::function<bool(int loop)>& walks,
                          std::int64_t line_bytes) {
  std::map<int, std::map<Shape, std::vector<std::int64_t>>> places;
  BufferBytes touched;
  for (const Access* access : accesses) {
    const std::int64_t element_bytes = buffers[static_cast<std::size_t>(access->buffer)].element_bytes;
    if (access->place)
      places[access->buffer][shape_of(*access->place, element_bytes, walks)].push_back(low_end(*access->place, element_bytes, walks));
    else
      touched[access->buffer] += line_bytes * times(access->walks, walks);
  }
  for (const auto& [buffer, shapes] : places)
    for (const auto& [shape, bases] : shapes) touched[buffer] += joined(shape, bases, buffers[static_cast<std::size_t>(buffer)].element_bytes, line_bytes);
  for (auto& [index, bytes] : touched) {
    const Buffer& buffer = buffers[static_cast<std::size_t>(index)];
    if (buffer.bytes) bytes = std::min(bytes, whole_lines(*buffer.bytes, line_bytes));
  }
  return touched;
}

FootprintTree footprint_of(const LoopTree& program, std::int64_t line_bytes) { return Converter(program, line_bytes).tree(); }

}  // namespace kiln::generators::host
