#include "db/uuid.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "dsl/error.h"

namespace kiln::db {

std::string make_uuid() {
  std::array<std::uint8_t, 16> bytes{};
  ssize_t filled = -1;
  while ((filled = getrandom(bytes.data(), bytes.size(), 0)) < 0 && errno == EINTR) {}
  KILN_CHECK(filled == static_cast<ssize_t>(bytes.size()), "getrandom gave no bytes");
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);  // the variant of RFC 4122
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace kiln::db
