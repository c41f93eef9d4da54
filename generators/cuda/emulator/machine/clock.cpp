#include "generators/cuda/emulator/machine/clock.h"

#include <algorithm>

namespace kiln::generators::cuda::emulator {
namespace {

bool knows_all(const Epochs& x, const Epochs& y) {
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i] > (i < x.size() ? x[i] : 0)) return false;
  return true;
}

}  // namespace

const Epochs& Clock::epochs() const {
  static const Epochs nothing;
  return epochs_ == nullptr ? nothing : *epochs_;
}

void raise(Epochs& epochs, Agent agent, std::uint32_t epoch) {
  if (epochs.size() <= agent) epochs.resize(agent + std::size_t{1});
  epochs[agent] = std::max(epochs[agent], epoch);
}

void raise(Epochs& epochs, const Clock& clock) {
  const Epochs& from = clock.epochs();
  if (epochs.size() < from.size()) epochs.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) epochs[i] = std::max(epochs[i], from[i]);
}

Clock Joins::join(const Clock& a, const Clock& b) {
  if (b == Clock() || a == b) return a;
  if (a == Clock()) return b;
  for (const Join& known : joins_)
    if (known.a == a && known.b == b) return known.result;
  Clock result = a;
  if (!knows_all(a.epochs(), b.epochs())) {
    Epochs epochs = a.epochs();
    raise(epochs, b);
    result = Clock(std::move(epochs));
  }
  joins_[next_++ % joins_.size()] = {a, b, result};
  return result;
}

Clock Joins::with(const Clock& a, Agent agent, std::uint32_t epoch) {
  if (a.knows(agent, epoch)) return a;
  if (raised_.a == a && raised_.agent == agent && raised_.epoch == epoch) return raised_.result;
  Epochs epochs = a.epochs();
  raise(epochs, agent, epoch);
  raised_ = {a, agent, epoch, Clock(std::move(epochs))};
  return raised_.result;
}

void Gathered::add(const Clock& clock, Agent agent, std::uint32_t epoch) {
  if (!(clock == last_)) {
    raise(epochs_, clock);
    last_ = clock;
  }
  raise(epochs_, agent, epoch);
}

}  // namespace kiln::generators::cuda::emulator
