#include "autotune/measure/stopping.h"

namespace kiln::autotune {
namespace {

constexpr std::size_t kLeastRounds = 6;  // fewer ratios have no interval to speak of

}  // namespace

void StoppingRule::add(double ratio, int samples, double seconds) {
  if (is_finished()) return;
  ratios_.push_back(ratio);
  samples_ += samples;
  seconds_ += seconds;
  ratio_ = bootstrap_median(ratios_, seed_);
  if (samples_ >= limits_.min_samples) {
    if (ratio_.high < 1 - limits_.margin) verdict_ = Verdict::faster;
    else if (ratio_.low > 1 + limits_.margin) verdict_ = Verdict::slower;
    else if (ratio_.width() < limits_.margin / 2) verdict_ = Verdict::tie;
  }
  if (verdict_ == Verdict::open && limits_.gains_only && ratios_.size() >= kLeastRounds && ratio_.low > 1 - limits_.margin)
    verdict_ = ratio_.low > 1 ? Verdict::slower : Verdict::tie;
  if (verdict_ == Verdict::open && (samples_ >= limits_.max_samples || seconds_ >= limits_.max_s)) verdict_ = Verdict::exhausted;
}

}  // namespace kiln::autotune
