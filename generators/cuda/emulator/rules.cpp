#include "generators/cuda/emulator/rules.h"

#include <algorithm>
#include <regex>

#include "generators/cuda/emulator/compiled.h"
#include "generators/cuda/emulator/machine/shadow.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr const char* kSharedArray = "extern __shared__ __align__(1024) char smem_raw[];";

// The text with comments and the insides of strings blanked; lines and columns stay.
class Code {
 public:
  explicit Code(const std::string& text) : text_(text) {
    for (std::size_t i = 0; i < text.size();) i = blank_from(i);
  }
  const std::string& text() const { return text_; }
  int line_of(std::size_t at) const { return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n')); }

  std::size_t after_spaces(std::size_t at) const { return std::min(text_.find_first_not_of(" \t\n", at), text_.size()); }
  std::size_t before_spaces(std::size_t at) const { return at == 0 ? std::string::npos : text_.find_last_not_of(" \t\n", at - 1); }
  // Of the bracket at `open`, the one that closes it, or the end.
  std::size_t closing(std::size_t open, char opener, char closer) const {
    int depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
      if (text_[i] == opener) ++depth;
      if (text_[i] == closer && --depth == 0) return i;
    }
    return text_.size();
  }
  std::size_t opening(std::size_t close) const {  // of a brace
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      if (text_[i] == '}') ++depth;
      if (text_[i] == '{' && --depth == 0) return i;
    }
    return std::string::npos;
  }

 private:
  // Includes keep their strings, which name files.
  std::size_t blank_from(std::size_t at) {
    if (text_.compare(at, 2, "//") == 0) return blank(at, std::min(text_.find('\n', at), text_.size()));
    if (text_.compare(at, 2, "/*") == 0) return blank(at, std::min(text_.find("*/", at + 2), text_.size() - 2) + 2);
    if (text_[at] == '#') return std::min(text_.find('\n', at), text_.size());
    if (text_[at] != '"') return at + 1;
    std::size_t end = at + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    return blank(at + 1, std::min(end, text_.size())) + 1;
  }
  std::size_t blank(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (text_[i] != '\n') text_[i] = ' ';
    return to;
  }

  std::string text_;
};

template <class F>
void for_matches(const Code& code, const char* pattern, F f) {
  const std::regex regex(pattern);
  for (std::sregex_iterator match(code.text().begin(), code.text().end(), regex), end; match != end; ++match) f(*match);
}

void find(const Code& code, const char* pattern, Rule rule, const char* advice, std::vector<Breach>& found) {
  for_matches(code, pattern, [&](const std::smatch& match) {
    found.push_back({rule, code.line_of(static_cast<std::size_t>(match.position())), "`" + match.str() + "`: " + advice});
  });
}

// The language itself is there without an include, for NVRTC as here.
bool is_device_file(const std::string& name) {
  const auto& files = prelude_files();
  return name != "language.cuh" && std::any_of(files.begin(), files.end(), [&](const PreludeFile& file) { return file.name == name; });
}

void find_includes(const Code& code, std::vector<Breach>& found) {
  for_matches(code, R"(#[ \t]*include[ \t]*([<"])([^>"\n]*)[>"])", [&](const std::smatch& include) {
    if (include.str(1) == "\"" && is_device_file(include.str(2))) return;
    found.push_back({Rule::includes_by_name, code.line_of(static_cast<std::size_t>(include.position())),
                     "`" + include.str() + "`: only files of the prelude are included, by their bare names in quotes"});
  });
}

void find_shared_arrays(const Code& code, std::vector<Breach>& found) {
  for_matches(code, "__shared__", [&](const std::smatch& word) {
    const std::size_t at = static_cast<std::size_t>(word.position());
    const std::size_t start = at < 7 ? 0 : at - 7;  // "extern "
    if (code.text().compare(start, std::string(kSharedArray).size(), kSharedArray) == 0) return;
    found.push_back({Rule::one_shared_array, code.line_of(at), std::string("shared memory is declared by `") + kSharedArray + "` only"});
  });
}

// A kernel that declares the array twice would be right for CUDA and, by accident, for the emulator; its readers would look for two arrays.
void find_second_arrays(const Code& code, std::vector<Breach>& found) {
  for_matches(code, R"(__global__[^;{]*\{)", [&](const std::smatch& kernel) {
    const std::size_t open = static_cast<std::size_t>(kernel.position() + kernel.length()) - 1;
    const std::size_t end = code.closing(open, '{', '}'), first = code.text().find(kSharedArray, open);
    if (first >= end) return;
    const std::size_t second = code.text().find(kSharedArray, first + 1);
    if (second < end) found.push_back({Rule::one_shared_array, code.line_of(second), "smem_raw is declared a second time in this kernel"});
  });
}

// `do { … } while (…);` is no empty loop when its body does something.
bool closes_a_full_do(const Code& code, std::size_t at) {
  const std::size_t brace = code.before_spaces(at);
  if (brace == std::string::npos || code.text()[brace] != '}') return false;
  const std::size_t open = code.opening(brace);
  const std::size_t word_end = open == std::string::npos ? open : code.before_spaces(open);
  const bool is_do = word_end != std::string::npos && word_end >= 1 && code.text().compare(word_end - 1, 2, "do") == 0;
  return is_do && code.after_spaces(open + 1) != brace;
}

void find_polling(const Code& code, std::vector<Breach>& found) {
  for_matches(code, R"(\b(while|for)\b)", [&](const std::smatch& loop) {
    const std::size_t at = static_cast<std::size_t>(loop.position()), open = code.after_spaces(at + static_cast<std::size_t>(loop.length()));
    if (open >= code.text().size() || code.text()[open] != '(') return;
    const std::size_t close = code.closing(open, '(', ')'), body = code.after_spaces(close + 1);
    const bool is_empty = body < code.text().size() && (code.text()[body] == ';' || (code.text()[body] == '{' && code.text()[code.after_spaces(body + 1)] == '}'));
    if (!is_empty || closes_a_full_do(code, at)) return;
    if (code.text().substr(open, close - open).find("ld_acquire") != std::string::npos) return;
    found.push_back({Rule::waits_through_wrappers, code.line_of(at), "a loop without a body never lets another thread run; poll with ld_acquire"});
  });
}

}  // namespace

std::vector<Breach> breaches(const std::string& text) {
  const Code code(text);
  std::vector<Breach> found;
  find(code, R"(\b(asm|__asm__|__asm)\b)", Rule::ptx_through_prelude, "PTX is written in the prelude only", found);
  find(code, R"(\b__(shfl|ballot|any|all|reduce|match)\w*_sync\b|\b__cvta_\w+|\b__nanosleep\b|\b__byte_perm\b)", Rule::ptx_through_prelude, "the prelude has a wrapper for it, or needs one",
       found);
  find_includes(code, found);
  find_shared_arrays(code, found);
  find_second_arrays(code, found);
  find(code, R"(\*\s*\)\s*\(\s*(u32|u64|size_t|uintptr_t|unsigned( long)*)\s*\))", Rule::addresses_stay_numbers,
       "a shared address stays a number; ld_shared and st_shared take it", found);
  find_polling(code, found);
  if (const int lines = code.line_of(code.text().size()); lines >= kLines)
    found.push_back({Rule::few_lines, lines, "messages name lines below 4096 only"});
  std::stable_sort(found.begin(), found.end(), [](const Breach& a, const Breach& b) { return a.line < b.line; });
  return found;
}

}  // namespace kiln::generators::cuda::emulator
