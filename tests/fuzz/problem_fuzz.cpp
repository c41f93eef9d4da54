// libFuzzer's entry: ./problem_fuzz tests/fuzz/corpus/problem
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/texts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  kiln::tests::try_problem_text({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
