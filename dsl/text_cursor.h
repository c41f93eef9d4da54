// A position in a text being parsed: the three small parsers of problems, devices and schedules share it, so that their messages agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  bool at_end() const { return offset_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[offset_]; }
  char peek_second() const { return offset_ + 1 < text_.size() ? text_[offset_ + 1] : '\0'; }
  char next();                          // at_end() must be false
  bool take(char expected);             // moves past it when it stands here
  void skip_spaces();                   // blanks and tabs, not line ends
  int line() const { return line_; }    // both 1-based
  int column() const { return column_; }

  // The longest run of characters that `belongs` accepts; may be empty.
  template <typename Belongs>
  std::string take_while(const Belongs& belongs) {
    std::string run;
    while (!at_end() && belongs(peek())) run += next();
    return run;
  }

  // A `"…"` with \" and \\ inside, the quotes dropped; nothing when it does not end on this line.
  std::optional<std::string> take_quoted();

  // What stands here, for "found …": a quoted character or word, "the end of the line", "the end of the text".
  std::string found() const;

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  int line_ = 1, column_ = 1;
};

bool is_word_start(char c);  // a letter or _
bool is_word_part(char c);   // a letter, a digit or _

// `text` in quotes, " and \ escaped: what take_quoted reads back.
std::string quoted(std::string_view text);

// A whole decimal number with an optional minus; nothing for anything else, out of range included.
std::optional<std::int64_t> parse_integer(std::string_view text);

// `names` joined by ", "; "none" when there are none.
template <typename Names>
std::string listed(const Names& names) {
  std::string text;
  for (const auto& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text.empty() ? "none" : text;
}

}  // namespace kiln
