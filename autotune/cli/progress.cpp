#include "autotune/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace kiln::autotune::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Often enough to see that it lives, seldom enough to keep an overnight log short.
constexpr std::chrono::seconds kPlainInterval{15};
constexpr std::chrono::milliseconds kRedrawInterval{100};

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string rejected_text(const Step& step) {
  int total = 0;
  for (const auto& [reason, count] : step.rejected) total += count;
  if (total == 0) return {};
  const auto most = std::max_element(step.rejected.begin(), step.rejected.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} rejected, most {}", total, most->first);
}

class Lines : public Progress {
 public:
  void step(const Step& step) override {
    // Phases alternate every second or so: only the first of each is news.
    const bool is_new = seen_.insert({step.problem, step.phase}).second;
    if (!is_new && Clock::now() - printed_ < kPlainInterval) return;
    printed_ = Clock::now();
    std::fprintf(stderr, "%s\n", plain_line(step).c_str());
  }
  void note(const std::string& line) override { std::fprintf(stderr, "kiln: %s\n", line.c_str()); }

 private:
  std::set<std::pair<std::string, std::string>> seen_;
  Clock::time_point printed_{};
};

class Bar : public Progress {
 public:
  explicit Bar(bool colour) : colour_(colour) {}
  ~Bar() override { clear(); }
  void step(const Step& step) override {
    if (Clock::now() - drawn_ < kRedrawInterval && step.phase == phase_) return;
    drawn_ = Clock::now();
    phase_ = step.phase;
    winsize size{};
    const int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
    std::fprintf(stderr, "\r\033[K%s", draw_bar(step, width - 1, colour_).c_str());
    std::fflush(stderr);
    visible_ = true;
  }
  void note(const std::string& line) override {
    clear();
    std::fprintf(stderr, "kiln: %s\n", line.c_str());
  }

 private:
  void clear() {
    if (visible_) std::fprintf(stderr, "\r\033[K");
    visible_ = false;
  }
  bool colour_;
  bool visible_ = false;
  std::string phase_;
  Clock::time_point drawn_{};
};

class Quiet : public Progress {
 public:
  void step(const Step&) override {}
  void note(const std::string& line) override { std::fprintf(stderr, "kiln: %s\n", line.c_str()); }
};

}  // namespace

std::string draw_bar(const Step& step, int width, bool colour) {
  constexpr int kCells = 20;
  std::string bar;
  if (step.total > 0) {
    const int filled = std::clamp(kCells * step.done / step.total, 0, kCells);
    bar = fmt::format(" [{}{}] {}/{}", std::string(static_cast<std::size_t>(filled), '#'),
                      std::string(static_cast<std::size_t>(kCells - filled), '.'), step.done, step.total);
  }
  std::string text = fmt::format("{:<9}{}", step.phase, bar);
  if (step.best_ratio > 0) text += fmt::format("  best {:.2f}x baseline", 1 / step.best_ratio);
  if (step.noise > 0) text += fmt::format(" (noise {:.1f} %)", 100 * step.noise);
  if (std::isfinite(step.seconds_left)) text += fmt::format("  {} left", clock_text(step.seconds_left));
  const std::string rejected = rejected_text(step);
  if (!rejected.empty()) text += "  " + rejected;
  if (!step.problem.empty()) text += "  " + step.problem;
  if (static_cast<int>(text.size()) > width) text.resize(static_cast<std::size_t>(width));
  // Colour only the first word, after cutting, so that an escape sequence is never cut in half.
  if (colour && text.size() > step.phase.size()) text = "\033[1m" + text.substr(0, step.phase.size()) + "\033[0m" + text.substr(step.phase.size());
  return text;
}

std::string plain_line(const Step& step) {
  std::string text = "phase=" + step.phase;
  if (!step.problem.empty()) text += fmt::format(" problem=\"{}\"", step.problem);
  if (step.total > 0) text += fmt::format(" done={}/{}", step.done, step.total);
  if (step.tried > 0) text += fmt::format(" tried={}", step.tried);
  if (step.best_ratio > 0) text += fmt::format(" speedup={:.3f}", 1 / step.best_ratio);
  if (step.noise > 0) text += fmt::format(" noise={:.4f}", step.noise);
  for (const auto& [reason, count] : step.rejected) text += fmt::format(" rejected.{}={}", reason, count);
  if (std::isfinite(step.seconds_left)) text += fmt::format(" left_s={:.0f}", std::max(0.0, step.seconds_left));
  return text;
}

std::unique_ptr<Progress> make_progress(Loudness loudness) {
  if (loudness == Loudness::quiet) return std::make_unique<Quiet>();
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  if (isatty(STDERR_FILENO) == 0 || dumb) return std::make_unique<Lines>();
  return std::make_unique<Bar>(std::getenv("NO_COLOR") == nullptr);
}

}  // namespace kiln::autotune::cli
