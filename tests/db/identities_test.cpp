// What results are keyed on.
#include "db/identities.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/db/sample_store.h"

namespace kiln::db {
namespace {

TEST(Identities, are_inserted_once_and_found_again) {
  SampleStore sample;
  EXPECT_EQ(sample.schedule("c.unroll(m)"), sample.schedule("c.unroll(m)"));
  EXPECT_NE(sample.schedule("c.unroll(m)"), sample.schedule("c.unroll(n)"));
  EXPECT_EQ(sample.problem(256), sample.key.problem);
  EXPECT_EQ(keep_protocol(*sample, "v1;cpu;threads=2;cache=hot;stat=q1"), sample.key.protocol);
  EXPECT_EQ(find_problem(*sample, problem(*sample, sample.key.problem).digest), sample.key.problem);
  EXPECT_EQ(find_algorithm(*sample, digest("algorithm", "matmul stages")), sample.algorithm);
  EXPECT_EQ(devices(*sample), std::vector{sample.key.device});
  EXPECT_EQ(device(*sample, sample.key.device).units, 2);
  EXPECT_EQ(toolchain(*sample, sample.key.toolchain).text, "gcc 12; codegen 1");
  EXPECT_EQ(algorithm(*sample, sample.algorithm).json, R"({"generator": "matmul"})");
}

TEST(Identities, refuse_one_digest_for_two_texts) {
  SampleStore sample;
  ScheduleRow row = schedule(*sample, sample.schedule("c.unroll(m)"));
  const std::string name = row.digest.short_hex();
  row.text = "c.unroll(k)";
  EXPECT_EQ(message_of<DataError>([&] { keep(*sample, row); }),
            "schedule " + name + " stands for two texts in :memory:: stored is \"c.unroll(m)\", now asked for is \"c.unroll(k)\"; use the program that wrote "
            "the store, or another file");
}

TEST(Identities, keep_a_schedules_point_space_and_parent) {
  SampleStore sample;
  ScheduleRow row;
  row.algorithm = sample.algorithm;
  row.text = "c.vectorize(n, 8)";
  row.digest = digest("schedule", row.text);
  row.origin = "local";
  row.numerics_class = "partial_sums";
  row.space = "matmul_host";
  row.space_version = 2;
  row.point = R"({"tile_n": 8})";
  row.parent = sample.schedule("c.unroll(m)");
  const ScheduleRow stored = schedule(*sample, keep(*sample, row));
  EXPECT_EQ(stored.space_version, 2);
  EXPECT_EQ(stored.point, row.point);
  EXPECT_EQ(stored.parent, row.parent);
  EXPECT_EQ(stored.numerics_class, "partial_sums");
}

TEST(Identities, replace_an_algorithms_bytes_when_another_halide_wrote_them) {
  SampleStore sample;
  AlgorithmRow row = algorithm(*sample, sample.algorithm);
  row.json = "{\"v\": 2}";
  keep(*sample, row);
  EXPECT_EQ(algorithm(*sample, sample.algorithm).json, R"({"generator": "matmul"})") << "the same Halide: the first stays";
  row.halide_version = "22.0.0";
  EXPECT_EQ(keep(*sample, row), sample.algorithm);
  EXPECT_EQ(algorithm(*sample, sample.algorithm).json, "{\"v\": 2}");
}

TEST(Candidates, are_named_by_a_beginning_of_their_digest) {
  SampleStore sample;
  const RunId run = sample.run();
  sample.ok_trial(run, "a");
  const Digest a = digest("schedule", "a");
  for (const std::size_t digits : {6, 7, 12, 64}) {
    const std::vector<CandidateName> found = find_candidates(*sample, a.hex().substr(0, digits));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].schedule, sample.schedule("a"));
    EXPECT_EQ(found[0].problem, sample.key.problem);
  }
  EXPECT_EQ(message_of<UsageError>([&] { find_candidates(*sample, "abc"); }),
            "`abc` names no candidate: write 6 to 64 of its hex digits (0-9, a-f), as `kiln best` shows them");
  EXPECT_EQ(message_of<UsageError>([&] { find_candidates(*sample, "000000"); }), "no candidate in :memory: begins with 000000; `kiln best` lists them");

  // Another digest with the same beginning.
  Digest twin = a;
  twin.bytes[31] = static_cast<std::uint8_t>(twin.bytes[31] ^ 1);
  ScheduleRow row = schedule(*sample, sample.schedule("a"));
  row.digest = twin;
  plan_trial(*sample, run, sample.key.problem, keep(*sample, row));
  const std::string name = a.short_hex();
  EXPECT_EQ(message_of<UsageError>([&] { find_candidates(*sample, name); }),
            "`" + name + "` is the beginning of 2 candidates: " + name + " " + name + "; write more digits");
  EXPECT_EQ(find_candidates(*sample, a.hex()).size(), 1u);
}

}  // namespace
}  // namespace kiln::db
