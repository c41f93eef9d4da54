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
