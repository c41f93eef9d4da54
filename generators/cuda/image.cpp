#include "generators/cuda/image.h"

#include <fmt/format.h>

#include <charconv>

#include "dsl/error.h"

namespace kiln::generators::cuda {
namespace {

// At the very end: the length of the record in hexadecimal, then this.
constexpr std::string_view kMark = "kiln-gpu";
constexpr std::size_t kDigits = 8, kTrailer = kDigits + kMark.size();

}  // namespace

std::string pack(const Image& image) {
  const std::string record = print(image.record);
  return fmt::format("{}{}{:08x}{}", image.code, record, record.size(), kMark);
}

Image unpack(std::string_view bytes) {
  if (bytes.size() < kTrailer || !bytes.ends_with(kMark)) throw DataError(fmt::format("{} bytes are no image of a GPU: they do not end in {}", bytes.size(), kMark));
  const std::string_view digits = bytes.substr(bytes.size() - kTrailer, kDigits);
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length, 16);
  const std::size_t before = bytes.size() - kTrailer;
  if (error != std::errc{} || end != digits.data() + digits.size() || length > before)
    throw DataError(fmt::format("an image of {} bytes cannot end in a launch record of `{}` bytes", bytes.size(), digits));
  return {std::string(bytes.substr(0, before - length)), parse_launch_record(bytes.substr(before - length, length))};
}

}  // namespace kiln::generators::cuda
