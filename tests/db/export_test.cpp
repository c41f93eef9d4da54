// Results as other tools read them.
#include "db/export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/db/sample_store.h"

namespace kiln::db {
namespace {

class Export : public testing::Test {
 protected:
  Export() {
    run_ = sample_.run();
    base_ = sample_.ok_trial(run_, "base");
    fast_ = sample_.ok_trial(run_, "fast, \"really\"\nfast");
    record_rejected(*sample_, run_, sample_.key.problem, sample_.schedule("bad"), std::nullopt, {"compile_timeout", 31.0, 30.0, "31 s"});
    sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.5)});
    record_event(*sample_, run_, "contended", "steal");
    other_run_ = sample_.run();
    record_rejected(*sample_, other_run_, sample_.key.problem, sample_.schedule("worse"), std::nullopt, {"over_grid", {}, {}, "x"});
  }
  nlohmann::json json(ExportFormat format, std::optional<RunId> run = std::nullopt) { return nlohmann::json::parse(export_results(*sample_, format, run)); }

  SampleStore sample_;
  RunId run_{}, other_run_{};
  TrialId base_{}, fast_{};
};

TEST_F(Export, csv_quotes_what_needs_it_and_has_a_row_a_measurement_or_rejection) {
  const std::string text = export_results(*sample_, ExportFormat::csv);
  EXPECT_EQ(text.find("operator,problem,device,protocol,run,run_origin,schedule,schedule_origin,attempt,outcome,reason,asked,allowed,detail,stage,race,at,"
                      "sample_count,q1_ns,median_ns,q3_ns,mad_ns,value_ns,ratio,ratio_lo,ratio_hi,quality,schedule_text\r\n"), 0u);
  EXPECT_NE(text.find("matmul,\"matmul(m=256, n=1024, k=1024, f32)\",Xeon,"), std::string::npos);
  EXPECT_NE(text.find(",\"fast, \"\"really\"\"\nfast\"\r\n"), std::string::npos);
  EXPECT_NE(text.find(",rejected,compile_timeout,31.0,30.0,31 s,,,,,,,,,,,,,,bad\r\n"), std::string::npos);
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos; at += 2) ++rows;
  EXPECT_EQ(rows, 5u);
}

TEST_F(Export, t4_has_the_schemas_fields_in_seconds) {
  const nlohmann::json document = json(ExportFormat::t4);
  EXPECT_EQ(document["schema_version"], "1.0.0");
  ASSERT_EQ(document["results"].size(), 4u);
  const nlohmann::json& fast = document["results"][1];
  EXPECT_EQ(fast["invalidity"], "correct");
  EXPECT_EQ(fast["correctness"], 1.0);
  EXPECT_EQ(fast["objectives"], nlohmann::json::array({"time"}));
  EXPECT_NEAR(fast["times"]["runtimes"][0].get<double>(), 500e-9, 1e-12);
  EXPECT_NEAR(fast["times"]["compilation_time"].get<double>(), 0.08, 1e-12);
  EXPECT_EQ(fast["measurements"][0]["unit"], "s");
  EXPECT_TRUE(fast["configuration"].is_object());
  EXPECT_EQ(document["results"][2]["invalidity"], "timeout");
  EXPECT_EQ(document["results"][3]["invalidity"], "constraints");
  EXPECT_EQ(json(ExportFormat::t4, run_)["results"].size(), 3u);
}

TEST_F(Export, google_benchmark_names_problem_and_candidate) {
  const nlohmann::json document = json(ExportFormat::google_benchmark);
  EXPECT_EQ(document["context"]["num_cpus"], 2);
  ASSERT_EQ(document["benchmarks"].size(), 2u);
  EXPECT_EQ(document["benchmarks"][0]["name"], "matmul(m=256, n=1024, k=1024, f32)/" + digest("schedule", "base").short_hex());
  EXPECT_EQ(document["benchmarks"][1]["real_time"], 500.0);
  EXPECT_EQ(document["benchmarks"][1]["time_unit"], "ns");
  EXPECT_TRUE(json(ExportFormat::google_benchmark, other_run_)["benchmarks"].empty());
}

TEST_F(Export, chrome_trace_pairs_begins_with_ends) {
  const nlohmann::json document = json(ExportFormat::chrome_trace);
  int open = 0, marks = 0;
  for (const nlohmann::json& event : document["traceEvents"]) {
    if (event["ph"] == "b") ++open;
    if (event["ph"] == "e") --open;
    if (event["ph"] == "i") ++marks;
    EXPECT_TRUE(event["ph"] == "M" || event["ts"].is_number_integer());
  }
  EXPECT_EQ(open, 0);
  EXPECT_EQ(marks, 1);
  EXPECT_EQ(document["traceEvents"][0]["name"], "process_name");
}

}  // namespace
}  // namespace kiln::db
