// Several emulators at work at once, each with a process of its own.
#pragma once

#include <memory>
#include <vector>

#include "autotune/emulate.h"
#include "autotune/entrant.h"

namespace kiln::autotune {

class Emulators {
 public:
  // `pool` as of Emulator.
  Emulators(int count, const Device& gpu, CompilePool& pool, const Objects& objects, const Launch& launch);

  std::size_t count() const { return emulators_.size(); }

  // What each entrant did, in their order. Throws EnvironmentError where kernels cannot be run at all.
  std::vector<Emulation> emulate(const WorkItem& item, const std::vector<const Entrant*>& entrants, const ObjectRef& reference);

 private:
  std::vector<std::unique_ptr<Emulator>> emulators_;
};

}  // namespace kiln::autotune
