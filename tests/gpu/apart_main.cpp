// A test program whose tests may end their process. With --together they all share the program's own: for tools that follow one process.
#include <gtest/gtest.h>

#include <string_view>

#include "apart.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return argc > 1 && std::string_view(argv[1]) == "--together" ? RUN_ALL_TESTS() : kiln::gpu::run_all_apart();
}
