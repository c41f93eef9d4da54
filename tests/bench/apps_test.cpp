// The ten pipelines of bench/apps: Kiln reads and rebuilds each, each has estimates and a schedule of its author, and that schedule is right on extents
// that no tile divides.
#include <gtest/gtest.h>

#include "dsl/apply.h"
#include "dsl/legality.h"
#include "dsl/read_algorithm.h"
#include "dsl/read_schedule.h"
#include "generators/host/host.h"
#include "tests/dsl/halide_runs.h"
#include "tests/equivalence/trial.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

// By a problem of each. Where compiling takes seconds, fewer octaves and a smaller disc do.
class Apps : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    static const bool loaded = (load_plugin(KILN_APPS), true);
    ASSERT_TRUE(loaded);
  }
  static Algorithm read(const Device& device) {
    const ProblemText written = parse_problem_text(GetParam());
    const std::string target = host::target_string(device, host::Isa::native, Contract::bounded);
    return read_algorithm(written.operator_name, params_of(written, signature_of(written.operator_name, target).default_params, ""), target);
  }
};

INSTANTIATE_TEST_SUITE_P(, Apps,
                         testing::Values("bilateral_grid(w=67, h=45)", "conv_layer(co=64, ci=7, taps=3, n=2, input.1=9, input.2=6, output.1=7, output.2=4)",
                                         "depthwise_separable_conv(ci=32, co=16, w=31, h=11, n=2)", "harris(w=67, h=45)", "hist(w=67, h=131)",
                                         "iir_blur(w=67, h=45)", "local_laplacian(w=67, h=45, octaves=4)", "max_filter(w=67, h=71, radius=9)",
                                         "nl_means(w=67, h=37)", "unsharp_mask(w=67, h=71)"),
                         [](const auto& app) { return parse_problem_text(app.param).operator_name; });

TEST_P(Apps, are_read_and_rebuilt_as_they_were_written) {
  const Algorithm algorithm = read(host::probe_cpu());
  Algorithm again = algorithm;
  again.stages = stages_of(rebuild(algorithm_from_json(to_json(algorithm))));
  EXPECT_EQ(print(again), print(algorithm));
  EXPECT_EQ(algorithm.own_schedule_absent, "");
}

// `kiln tune NAME` without a problem follows them.
TEST_P(Apps, have_estimates_of_every_extent_and_scalar) {
  const Algorithm algorithm = read(host::probe_cpu());
  for (const Argument& argument : algorithm.arguments) {
    for (const auto& estimate : argument.estimates) EXPECT_TRUE(estimate && estimate->min == 0 && estimate->extent > 0) << argument.name;
    EXPECT_EQ(argument.is_scalar, argument.scalar_estimate.has_value()) << argument.name;
  }
}

// They lower to the same program. What cannot be said is where no search could go on from.
TEST_P(Apps, have_schedules_that_directives_can_say) {
  const Algorithm algorithm = read(host::probe_cpu());
  const Problem problem = resolve(parse_problem_text(GetParam()), algorithm);
  Pipeline own = rebuild_own(algorithm), again = rebuild(algorithm);
  const Schedule said = read_schedule(own.pipeline, algorithm);
  require_legal(said, algorithm, &problem);
  apply(said, again);
  EXPECT_EQ(program_of(again), program_of(own)) << print(said);
}

TEST_P(Apps, give_the_results_of_the_reference_under_their_own_schedule) {
  const Device device = host::probe_cpu();
  const Algorithm algorithm = read(device);
  const host::Loaded reference(host::build_reference(algorithm, device));
  const Subject subject(algorithm, GetParam(), reference, 20261130);
  const Outcome outcome = try_schedule(subject, algorithm, parse_schedule("own_schedule()\n"), device);
  EXPECT_EQ(outcome.kind, Outcome::Kind::equal) << static_cast<char>(outcome.kind) << ": " << outcome.text;
}

}  // namespace
}  // namespace kiln::tests
