#include "dsl/digest.h"

#include <mbedtls/sha256.h>

#include "dsl/error.h"

namespace kiln {

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Digest::short_hex() const { return hex().substr(0, 12); }

Digest parse_digest(std::string_view hex) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  Digest result;
  bool is_digest = hex.size() == 2 * result.bytes.size();
  for (std::size_t i = 0; is_digest && i < result.bytes.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    is_digest = high >= 0 && low >= 0;
    result.bytes[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  if (!is_digest) throw DataError("`" + std::string(hex) + "` is no digest of 64 hexadecimal digits");
  return result;
}

Digest digest(std::string_view kind, std::string_view text) {
  std::string prefixed = "kiln-";
  prefixed.append(kind).append("-1\n").append(text);
  return content_digest(prefixed);
}

Digest content_digest(std::string_view bytes) {
  Digest result;
  const int code = mbedtls_sha256_ret(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), result.bytes.data(), 0);
  KILN_CHECK(code == 0, "mbedtls_sha256_ret returned " + std::to_string(code));
  return result;
}

}  // namespace kiln
