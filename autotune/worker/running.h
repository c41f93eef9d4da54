// Marks on the shared page: whose code runs, and since when a call has been running.
#pragma once

#include "autotune/measure/shared_page.h"

namespace kiln::autotune {

// From here to the end of the scope everything in this process is this candidate's doing.
class Suspect {
 public:
  Suspect(SharedPage& page, std::int64_t id) : page_(page) { page_.candidate.store(id + 1); }
  ~Suspect() { page_.candidate.store(0); }
  Suspect(const Suspect&) = delete;
  Suspect& operator=(const Suspect&) = delete;

 private:
  SharedPage& page_;
};

class InCall {
 public:
  explicit InCall(SharedPage& page) : page_(page) { page_.call_started_ns.store(monotonic_ns(), std::memory_order_relaxed); }
  ~InCall() { page_.call_started_ns.store(0, std::memory_order_relaxed); }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  SharedPage& page_;
};

}  // namespace kiln::autotune
