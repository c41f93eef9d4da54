// Its author's own space: strips of rows, `across` at the strip or at the row.
#include "dsl/registration.h"
#include "schedules/space.h"

namespace {

using kiln::Chain;
using kiln::Schedule;

kiln::schedules::Space smooth_space(const kiln::Algorithm&, const kiln::Problem& problem, const kiln::Device& device) {
  kiln::schedules::Space space("smooth_strips");
  const auto lanes = space.knob("lanes", {4, 8, device.vector_bytes >= 64 ? 16 : 2});
  const auto rows = space.knob("rows", {1, 2, 4, 8, 16, 32});
  const auto level = space.words("level", {"row", "strip"});
  const std::int64_t height = problem.extents.at("output.1");
  space.require("a strip must not be taller than the picture", [=](std::int64_t r) { return r <= height; }, rows);
  space.schedule_as([=](const kiln::schedules::Point& p) {
    Schedule schedule;
    Chain(schedule, "output").add("split", "y", "yo", "yi", p[rows], "GuardWithIf").add("vectorize", "x", p[lanes], "GuardWithIf").add("parallel", "yo");
    Chain(schedule, "across").add("compute_at", "output", p[level] == "row" ? "yi" : "yo").add("vectorize", "x", p[lanes]);
    return schedule;
  });
  space.seed({{"lanes", std::int64_t{8}}, {"rows", std::int64_t{16}}, {"level", std::string("strip")}}, "the author's first guess");
  return space;
}

}  // namespace

KILN_REGISTER(smooth).space(smooth_space);
