// A test program that is its own worker, as `kiln` is.
#include <gtest/gtest.h>

#include "autotune/worker/roles.h"
#include "generators/operators/operators.h"

int main(int argc, char** argv) {
  (void)kiln::generators::shipped_operators();
  if (const auto exit_code = kiln::autotune::run_role(argc, argv)) return *exit_code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
