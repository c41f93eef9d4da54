// What won in trials by hand on an H200 is a point of the space, and near the front of what the model of a ring's time expects: the winners are those of the
// trials' tables, with the shapes they won.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "generators/cuda/predict_time.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;
using schedules::KnobValue;
using schedules::Point;
using schedules::Space;

struct Winner {
  const char* shape;
  const char* point;  // the knobs that the trial's table names
};

void PrintTo(const Winner& winner, std::ostream* out) { *out << winner.shape; }

// bf16, hot: columns of a term are neighbours in dot_by_columns, terms of a column in dot_by_terms. Clusters that share copies brought the last nothing and are left out.
const Winner kOfShortFloats[] = {
    {"dot_by_columns(m=16, n=12288, k=4096)", "operands=swapped roles=cooperative consumers=3 tall=192 wide=16 depth=64 stages=6 parts=1 blocks=1 grid=once"},
    {"dot_by_terms(m=16, n=12288, k=4096)", "operands=swapped roles=cooperative consumers=3 tall=192 wide=16 depth=64 stages=6 parts=1 blocks=1 grid=once"},
    {"dot_by_columns(m=64, n=12288, k=4096)", "operands=plain roles=cooperative consumers=1 tall=64 wide=192 depth=64 stages=6 parts=1 blocks=1 grid=once"},
    {"dot_by_terms(m=64, n=12288, k=4096)", "operands=plain roles=cooperative consumers=1 tall=64 wide=96 depth=64 stages=7 parts=1 blocks=1 grid=once"},
    {"dot_by_columns(m=128, n=12288, k=4096)", "operands=plain roles=cooperative consumers=1 tall=64 wide=192 depth=64 stages=6 parts=1 blocks=1 grid=once"},
    {"dot_by_terms(m=128, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=96 depth=64 stages=7 parts=1 blocks=1 grid=once"},
    {"dot_by_columns(m=256, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=64 stages=5 parts=1 blocks=1 grid=once"},
    {"dot_by_terms(m=256, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=64 stages=5 parts=1 blocks=1 grid=once"},
    {"dot_by_columns(m=512, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=512, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=1024, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=1024, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=1536, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=1536, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=2048, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=2048, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=4096, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=4096, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=7239, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=7239, n=12288, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=256, n=4096, k=12288)", "operands=plain roles=cooperative consumers=2 tall=128 wide=64 depth=64 stages=8 parts=1 blocks=1 grid=once"},
    {"dot_by_terms(m=256, n=4096, k=12288)", "operands=plain roles=cooperative consumers=1 tall=64 wide=128 depth=64 stages=8 parts=1 blocks=1 grid=once"},
    {"dot_by_columns(m=1024, n=4096, k=12288)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=1024, n=4096, k=12288)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=2048, n=4096, k=12288)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=2048, n=4096, k=12288)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=4096, n=4096, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=4096, n=4096, k=4096)", "operands=plain roles=pingpong consumers=2 tall=128 wide=128 depth=64 stages=6 parts=1 blocks=1 grid=persistent"},
    {"dot_by_columns(m=8192, n=8192, k=8192)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_by_terms(m=8192, n=8192, k=8192)", "operands=plain roles=pingpong consumers=2 tall=128 wide=192 depth=64 stages=4 parts=1 blocks=1 grid=persistent"},
};

// E4M3, sums promoted every 128 terms. Tables with several sets of temporaries are read as their tiles.
const Winner kOfCodes[] = {
    {"dot_of_codes(m=16, n=12288, k=4096)", "operands=swapped roles=cooperative consumers=1 tall=64 wide=16 depth=128 stages=5 parts=1 blocks=2 grid=once"},
    {"dot_of_codes(m=64, n=12288, k=4096)", "operands=swapped roles=cooperative consumers=2 tall=128 wide=64 depth=128 stages=6 parts=1 blocks=1 grid=once"},
    {"dot_of_codes(m=128, n=12288, k=4096)", "operands=plain roles=cooperative consumers=1 tall=64 wide=192 depth=128 stages=6 parts=1 blocks=1 grid=once"},
    {"dot_of_codes(m=256, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=128 stages=4 parts=1 blocks=1 grid=once"},
    {"dot_of_codes(m=512, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=128 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=1024, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=128 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=2048, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=128 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=4096, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=128 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=7239, n=12288, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=128 stages=4 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=256, n=4096, k=12288)", "operands=plain roles=cooperative consumers=2 tall=128 wide=64 depth=128 stages=8 parts=1 blocks=1 grid=once"},
    {"dot_of_codes(m=1024, n=4096, k=12288)", "operands=plain roles=cooperative consumers=2 tall=128 wide=128 depth=256 stages=3 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=4096, n=4096, k=12288)", "operands=plain roles=cooperative consumers=2 tall=128 wide=128 depth=256 stages=3 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=4096, n=4096, k=4096)", "operands=plain roles=cooperative consumers=2 tall=128 wide=128 depth=256 stages=3 parts=1 blocks=1 grid=persistent"},
    {"dot_of_codes(m=8192, n=8192, k=8192)", "operands=plain roles=cooperative consumers=2 tall=128 wide=192 depth=128 stages=4 parts=1 blocks=1 grid=persistent"},
};

Algorithm algorithm_of(const std::string& shape) {
  if (shape.starts_with("dot_of_codes")) return dot_of_codes();
  return shape.starts_with("dot_by_columns") ? dot_by_columns() : dot_by_terms();
}

bool has(const std::string& point, const std::string& knob) { return (point + " ").find(knob + " ") != std::string::npos; }

// What two kernels of one tile differ in little is left out: stages, store buffers, the order of tiles, hints.
std::string form_of(const std::string& point) {
  std::string form = point.substr(0, point.find(" stages="));
  for (const char* knob : {" parts=", " blocks=", " grid="}) {
    const std::size_t at = point.find(knob);
    form += point.substr(at, point.find(' ', at + 1) - at);
  }
  return form;
}

struct Ranked {
  int place = 0;       // of the winner's form
  double behind = 0;   // the winner's time over the least
};

// Whether a point is one of those that are compared: hints and orders of tiles are the same for all, and no parts of tiles meet, which they do in the shared memory
// of a cluster here and did in memory in the trials.
bool is_compared(const Point& point) {
  static const std::map<std::string, KnobValue> kSame = {{"group", std::int64_t{8}}, {"promotion", std::int64_t{128}}, {"eviction", std::string("normal")}, {"launch", std::string("plain")},
                                                         {"parts", std::int64_t{1}}};
  for (std::size_t i = 0; i < point.knobs().size(); ++i) {
    const auto same = kSame.find(point.knobs()[i].name);
    if (same != kSame.end() && point.value(i) != same->second) return false;
  }
  return true;
}

Ranked rank(const Winner& winner) {
  const Algorithm algorithm = algorithm_of(winner.shape);
  const Problem problem = resolve(parse_problem_text(winner.shape), algorithm);
  const Device& device = schedules::device_named("h200");
  const Space space = *schedules::space_for(algorithm, problem, device);
  const std::string own_form = form_of(winner.point), own_stages = std::string(winner.point).substr(std::string(winner.point).find("stages="), 8);
  std::map<std::string, double> least;  // by form
  double own = 0;
  for (std::uint64_t i = 0; i < *space.count(); ++i) {
    const Point point = space.unrank(i);
    if (!is_compared(point)) continue;
    const std::string text = print(point), form = form_of(text);
    const double ns = cuda::predict_ns(algorithm, space.schedule(point), problem, *device.gpu).value();
    const auto known = least.emplace(form, ns).first;
    known->second = std::min(known->second, ns);
    if (form == own_form && has(text, own_stages) && (own == 0 || ns < own)) own = ns;
  }
  if (own == 0) return {};
  Ranked ranked{.place = 1};
  double best = own;
  for (const auto& [form, ns] : least) {
    best = std::min(best, ns);
    ranked.place += ns < least.at(own_form);
  }
  ranked.behind = own / best;
  return ranked;
}

class RingRanking : public testing::TestWithParam<Winner> {};

TEST_P(RingRanking, has_what_won_by_hand_among_its_first) {
  const Ranked ranked = rank(GetParam());
  RecordProperty("place", ranked.place);
  RecordProperty("behind", std::to_string(ranked.behind));
  ASSERT_GT(ranked.place, 0) << "no point of the space: " << GetParam().point;
  EXPECT_LE(ranked.place, 20);
  // That two sets of temporaries fill the waits of promotion, as some of the trial's kernels of codes have it, the model does not know.
  EXPECT_LE(ranked.behind, std::string(GetParam().shape).starts_with("dot_of_codes") ? 1.2 : 1.15);
}

// The least that the model expects of a space.
double best_ns(const Algorithm& algorithm, const std::string& text) {
  const Problem problem = resolve(parse_problem_text(text), algorithm);
  const Device& device = schedules::device_named("h200");
  const Space space = *schedules::space_for(algorithm, problem, device);
  EXPECT_TRUE(schedules::is_of_tensor_products(space));
  double least = std::numeric_limits<double>::infinity();
  schedules::Random random(1);
  const auto look_at = [&](const Point& point) {
    const auto ns = cuda::predict_ns(algorithm, space.schedule(point), problem, *device.gpu);
    ASSERT_TRUE(ns) << text << "\n" << print(space.schedule(point));
    least = std::min(least, *ns);
  };
  for (const schedules::Seed& seed : space.seeds()) look_at(seed.point);
  for (int i = 0; i < 2000; ++i) look_at(space.sample(random));
  return least;
}

// What a kernel of both products by hand took, hot, with either order of the weights.
TEST(RingTimes, of_two_products_are_near_what_was_measured) {
  const std::vector<std::pair<int, double>> kMeasured_us = {{16, 47.4}, {64, 49.3}, {256, 84}, {1024, 307}, {4096, 1230}};
  for (const auto& [m, us] : kMeasured_us)
    for (const Algorithm& algorithm : {gated_by_terms(), gated_by_columns()})
      EXPECT_NEAR(best_ns(algorithm, fmt::format("{}(m={}, n=12288, k=4096)", algorithm.generator, m)) * 1e-3 / us, 1, 0.15) << m;
}

TEST(RingTimes, of_a_layer_are_told_wherever_its_kernels_end) {
  for (const int m : {16, 1024}) EXPECT_GT(best_ns(feed_forward(), fmt::format("feed_forward(m={}, h=4096, n=12288, k=4096)", m)), 0);
}

INSTANTIATE_TEST_SUITE_P(OfShortFloats, RingRanking, testing::ValuesIn(kOfShortFloats));
INSTANTIATE_TEST_SUITE_P(OfCodes, RingRanking, testing::ValuesIn(kOfCodes));

}  // namespace
}  // namespace kiln::tests
