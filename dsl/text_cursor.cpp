#include "dsl/text_cursor.h"

#include <charconv>

namespace kiln {

char TextCursor::next() {
  const char c = text_[offset_++];
  if (c == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  return c;
}

bool TextCursor::take(char expected) {
  if (at_end() || peek() != expected) return false;
  next();
  return true;
}

void TextCursor::skip_spaces() {
  while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r')) next();
}

std::optional<std::string> TextCursor::take_quoted() {
  if (!take('"')) return std::nullopt;
  std::string text;
  while (!at_end() && peek() != '\n') {
    char c = next();
    if (c == '"') return text;
    if (c == '\\' && (peek() == '"' || peek() == '\\')) c = next();
    text += c;
  }
  return std::nullopt;
}

std::string TextCursor::found() const {
  if (at_end()) return "the end of the text";
  if (peek() == '\n') return "the end of the line";
  if (!is_word_part(peek())) return std::string("'") + peek() + "'";
  std::size_t end = offset_;
  while (end < text_.size() && is_word_part(text_[end])) ++end;
  return "'" + std::string(text_.substr(offset_, end - offset_)) + "'";
}

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word_part(char c) { return is_word_start(c) || (c >= '0' && c <= '9'); }

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

}  // namespace kiln
