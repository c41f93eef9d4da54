// Identities: SHA-256 over canonical text. Everything the store keys on is one of these, never an index or a name.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace kiln {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;

  std::string hex() const;        // 64 lower-case digits
  std::string short_hex() const;  // the first 12: what users see and type
};

// What hex() printed. Throws DataError naming the text that is none.
Digest parse_digest(std::string_view hex);

// SHA-256 of "kiln-<kind>-1\n" followed by `text`. `kind` is one word: algorithm, problem, schedule, build, candidate, toolchain, device.
Digest digest(std::string_view kind, std::string_view text);

// SHA-256 of the bytes alone: for artifacts, whose content is their name.
Digest content_digest(std::string_view bytes);

}  // namespace kiln
