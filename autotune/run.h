// What one run of the tuner holds while it works: the store and its identities, the workers, the clock. Passed by reference, owned by the session.
#pragma once

#include <functional>
#include <string>

#include "autotune/budget.h"
#include "autotune/measurer.h"
#include "autotune/progress.h"
#include "autotune/reader.h"
#include "autotune/stop_request.h"
#include "db/runs.h"
#include "db/trials.h"

namespace kiln::autotune {

class Builds;

struct Run {
  db::Store& store;
  Device device;
  db::DeviceId device_id{};
  db::ToolchainId toolchain_id{};
  db::ProtocolId protocol_id{};
  db::RunId id{};
  Objects objects;
  Builds& builds;
  Measurer& measurer;
  Reader* reader = nullptr;  // serves the spaces of plugins; none where nothing is searched
  Progress& progress;
  std::function<StopRequest()> stop_request;
  Budget budget;
  Limits limits;
  Clock::time_point started;
  std::uint64_t seed = 1;
  int most_candidates = 0;   // of a problem, those of earlier runs among them; 0: as many as the time allows

  double spent_s() const { return seconds_since(started); }
  double search_left_s() const { return budget.search_ends_s() - spent_s(); }
  bool is_stopped() const { return stop_request() != StopRequest::go_on; }
  // Nothing new is begun once this holds; what runs is finished.
  bool search_is_over() const { return is_stopped() || search_left_s() <= 0; }
  db::ResultKey key(db::ProblemId problem) const { return {problem, device_id, toolchain_id, protocol_id}; }

  // A note to the user that is also kept as an event of the run.
  void note(const std::string& kind, const std::string& text) const {
    progress.note(text);
    record_event(store, id, kind, text);
  }
};

}  // namespace kiln::autotune
