#include "autotune/bundle/emulators.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace kiln::autotune {

Emulators::Emulators(int count, const Device& gpu, CompilePool& pool, const Objects& objects, const Launch& launch) {
  for (int i = 0; i < count; ++i) emulators_.push_back(std::make_unique<Emulator>(gpu, pool, objects, launch));
}

std::vector<Emulation> Emulators::emulate(const WorkItem& item, const std::vector<const Entrant*>& entrants, const ObjectRef& reference) {
  std::vector<Emulation> emulations(entrants.size());
  std::vector<std::exception_ptr> failures(emulators_.size());
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < std::min(emulators_.size(), entrants.size()); ++t)
      threads.emplace_back([&, t] {
        try {
          for (std::size_t i = next++; i < entrants.size(); i = next++)
            emulations[i] = emulators_[t]->emulate(item.algorithm, entrants[i]->wish.schedule, item.problem, reference);
        } catch (...) {
          failures[t] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return emulations;
}

}  // namespace kiln::autotune
