// What stands for a space in tests: all seeds, a point for each value of each knob, and random ones.
#pragma once

#include <set>
#include <string>

#include "dsl/schedule.h"
#include "schedules/space.h"

namespace kiln::tests {

inline std::set<std::string> points_of(const schedules::Space& space, schedules::Random& random) {
  constexpr int kDraws = 150;
  std::set<std::string> schedules;
  const auto add = [&](const schedules::Point& point) { schedules.insert(print(space.schedule(point))); };
  for (const schedules::Seed& seed : space.seeds()) add(seed.point);
  for (const schedules::Point& step : space.steps(space.seeds().front().point)) add(step);
  for (int i = 0; i < kDraws; ++i) add(space.sample(random));
  return schedules;
}

}  // namespace kiln::tests
