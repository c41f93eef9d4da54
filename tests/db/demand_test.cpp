// The text of a demand and the counts in the store.
#include "db/demand.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/db/sample_store.h"

namespace kiln::db {
namespace {

constexpr const char* kText =
    "# what the renderer called last night\n"
    "# application renderer\n"
    "# window 2026-01-01T00:00:00Z 2026-01-01T01:00:00Z\n"
    "\n"
    "   8000 matmul(m=256, n=1024, k=1024, f32)\n"
    "      1 matmul(m=1536, n=1024, k=1024, f32)\r\n"
    "# tier generic\n"
    "   2000 matmul(m=256, n=1024, k=1024, f32)\n"
    "# overflow 7\n";

Import import_text(Store& store, const std::string& text, double horizon_s = kDefaultHorizon_s) {
  return import_demand(store, parse_demand(text, "calls.txt"), content_digest(text), horizon_s);
}

TEST(DemandText, is_read_as_uniq_prints_it) {
  const Demand demand = parse_demand(kText, "calls.txt");
  EXPECT_EQ(demand.application, "renderer");
  EXPECT_EQ(demand.window_end, "2026-01-01T01:00:00Z");
  EXPECT_EQ(demand.overflow, 7);
  ASSERT_EQ(demand.lines.size(), 3u);
  EXPECT_EQ(demand.lines[0], (DemandLine{8000, "matmul(m=256, n=1024, k=1024, f32)", "exact", 5}));
  EXPECT_EQ(demand.lines[1].problem, "matmul(m=1536, n=1024, k=1024, f32)");
  EXPECT_EQ(demand.lines[2], (DemandLine{2000, "matmul(m=256, n=1024, k=1024, f32)", "generic", 8}));
}

TEST(DemandText, prints_as_it_parses) {
  const std::string printed = print(parse_demand(kText, "calls.txt"));
  EXPECT_EQ(printed,
            "# application renderer\n"
            "# window 2026-01-01T00:00:00Z 2026-01-01T01:00:00Z\n"
            "8000 matmul(m=256, n=1024, k=1024, f32)\n"
            "1 matmul(m=1536, n=1024, k=1024, f32)\n"
            "# tier generic\n"
            "2000 matmul(m=256, n=1024, k=1024, f32)\n"
            "# overflow 7\n");
  EXPECT_EQ(print(parse_demand(printed, "again")), printed);
  EXPECT_TRUE(parse_demand("", "empty").lines.empty());
}

TEST(DemandText, errors_name_the_line_and_what_would_do) {
  const auto error = [](const std::string& text) { return message_of<UsageError>([&] { parse_demand(text, "calls.txt"); }); };
  const std::string count_form = " is not a number of calls; a line is a count and a problem, as in `8000 matmul(m=256, n=1024, k=1024, f32)`";
  EXPECT_EQ(error("\nmany matmul(m=1)"), "calls.txt:2: `many`" + count_form);
  EXPECT_EQ(error("-3 matmul(m=1)"), "calls.txt:1: `-3`" + count_form);
  EXPECT_EQ(error("3.5 matmul(m=1)"), "calls.txt:1: `3.5`" + count_form);
  EXPECT_EQ(error("99999999999999999999 matmul(m=1)"), "calls.txt:1: `99999999999999999999` is too large: a count may be 9223372036854775807 at most");
  EXPECT_EQ(error("12"), "calls.txt:1: the problem is missing after `12`, as in `12 matmul(m=256, n=1024, k=1024, f32)`");
  EXPECT_EQ(error("12 matmul"), "calls.txt:1: `matmul` is no problem; a problem is `operator(symbol=extent, …)`");
  EXPECT_EQ(error("# tier best"), "calls.txt:1: `best` is no tier; the tiers are exact, bucket and generic");
  EXPECT_EQ(error("# application"), "calls.txt:1: `# application` needs a name, as in `# application renderer`");
  EXPECT_EQ(error("# application a\n# application b"), "calls.txt:2: a second `# application`: the file is already `a`'s; one file is one application's");
  EXPECT_EQ(error("# window 2026-01-02T00:00:00Z 2026-01-01T00:00:00Z"),
            "calls.txt:1: the window ends at 2026-01-01T00:00:00Z, not after its start 2026-01-02T00:00:00Z");
  EXPECT_EQ(error("# window monday"), "calls.txt:1: `# window` needs a start and an end: \"\" is no time; a time looks like 2026-01-31T05:06:07Z");
}

TEST(Demand, is_imported_once_however_often_it_is_asked) {
  SampleStore sample;
  const Import first = import_text(*sample, kText);
  EXPECT_TRUE(first.is_new);
  EXPECT_EQ(first.problems, 2u);
  EXPECT_EQ(first.calls, 10001);
  EXPECT_FALSE(import_text(*sample, kText).is_new);
  ASSERT_EQ(demand_sources(*sample).size(), 1u);
  EXPECT_EQ(demand_sources(*sample)[0].calls, 10001);
  EXPECT_EQ(demand_sources(*sample)[0].overflow, 7);
  EXPECT_EQ(demand_sources(*sample)[0].horizon_s, 3600);
}

TEST(Demand, is_weighed_by_calls_a_second_once_it_is_linked) {
  SampleStore sample;
  import_text(*sample, kText);
  const std::vector<std::string> open = unlinked_demand(*sample, "matmul");
  ASSERT_EQ(open.size(), 2u);
  EXPECT_TRUE(unlinked_demand(*sample, "conv").empty());
  link_demand(*sample, "matmul(m=256, n=1024, k=1024, f32)", sample.key.problem);
  EXPECT_EQ(unlinked_demand(*sample).size(), 1u);
  const DemandTotal total = *demand_of(*sample, sample.key.problem);
  EXPECT_EQ(total.calls, 10000);
  EXPECT_DOUBLE_EQ(total.calls_per_s, 10000 / 3600.0);
  EXPECT_DOUBLE_EQ(total.tuned_share, 0.8);

  // The next hour of the same application halves the rate of what it does not call; another application adds to it.
  import_text(*sample, "# application renderer\n# window 2026-01-01T01:00:00Z 2026-01-01T02:00:00Z\n5 conv(n=1)\n");
  EXPECT_DOUBLE_EQ(demand_of(*sample, sample.key.problem)->calls_per_s, 10000 / 7200.0);
  import_text(*sample, "# application player\n100 matmul(m=256, n=1024, k=1024, f32)\n", 100);
  EXPECT_DOUBLE_EQ(demand_of(*sample, sample.key.problem)->calls_per_s, 10000 / 7200.0 + 1) << "linked by the text that is known";
  EXPECT_EQ(demand_totals(*sample).at(0).problem, sample.key.problem);
}

TEST(Demand, written_in_two_ways_is_one_problem) {
  SampleStore sample;
  import_text(*sample, "3 matmul(m=256)\n4 matmul(m=256, n=1024, k=1024, f32)\n2 matmul(m=256)\n");
  for (const std::string& written : unlinked_demand(*sample)) link_demand(*sample, written, sample.key.problem);
  ASSERT_EQ(demand_totals(*sample).size(), 1u);
  EXPECT_EQ(demand_totals(*sample)[0].calls, 9);
}

TEST(Demand, can_be_taken_back) {
  SampleStore sample;
  const Import import = import_text(*sample, kText);
  remove_demand(*sample, import.source);
  EXPECT_TRUE(demand_totals(*sample).empty());
  EXPECT_EQ(message_of<UsageError>([&] { remove_demand(*sample, import.source); }),
            "there is no demand " + import.source + " in :memory:; `kiln demand show` lists them");
}

}  // namespace
}  // namespace kiln::db
