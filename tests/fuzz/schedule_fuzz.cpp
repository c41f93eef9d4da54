// libFuzzer's entry: ./schedule_fuzz tests/fuzz/corpus/schedule
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/texts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  kiln::tests::try_schedule_text({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
