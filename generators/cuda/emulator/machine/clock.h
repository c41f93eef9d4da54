// Vector clocks. An agent is whoever touches memory on its own time: a thread, the TMA loads of one mbarrier (its epoch is the phase), the wgmma
// groups of a warpgroup, the bulk stores of a thread. A clock says, for each agent, up to which of its epochs everything is known to have happened.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kiln::generators::cuda::emulator {

using Agent = std::uint16_t;
using Epochs = std::vector<std::uint32_t>;  // by agent; what is not there is 0: nothing known

void raise(Epochs& epochs, Agent agent, std::uint32_t epoch);

// Immutable and shared: the 128 threads that leave one barrier hold the same snapshot, so that it is joined once and not 128 times.
class Clock {
 public:
  Clock() = default;
  explicit Clock(Epochs epochs) : epochs_(std::make_shared<const Epochs>(std::move(epochs))) {}

  std::uint32_t of(Agent agent) const { return epochs_ != nullptr && agent < epochs_->size() ? (*epochs_)[agent] : 0; }
  bool knows(Agent agent, std::uint32_t epoch) const { return of(agent) >= epoch; }
  const Epochs& epochs() const;
  // The same snapshot, not merely an equal one.
  bool operator==(const Clock& other) const = default;

 private:
  std::shared_ptr<const Epochs> epochs_;
};

void raise(Epochs& epochs, const Clock& clock);

// Joins clocks and remembers the last joins, since a whole warpgroup asks for the same one.
class Joins {
 public:
  // The least clock that knows both.
  Clock join(const Clock& a, const Clock& b);
  Clock with(const Clock& a, Agent agent, std::uint32_t epoch);

 private:
  struct Join { Clock a, b, result; };
  struct Raised { Clock a; Agent agent = 0; std::uint32_t epoch = 0; Clock result; };
  std::array<Join, 8> joins_;  // a barrier of a block mixes few snapshots at a time
  std::size_t next_ = 0;
  Raised raised_;
};

// What those who arrived at a barrier knew, together.
class Gathered {
 public:
  void add(const Clock& clock, Agent agent, std::uint32_t epoch);
  void add(Agent agent, std::uint32_t epoch) { raise(epochs_, agent, epoch); }
  Clock clock() const { return Clock(epochs_); }

 private:
  Epochs epochs_;
  Clock last_;  // the one added last: most arrive with the same snapshot
};

}  // namespace kiln::generators::cuda::emulator
