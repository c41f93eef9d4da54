// Text of nested blocks, line by line.
#pragma once

#include <string>

namespace kiln::generators::cuda {

class Lines {
 public:
  explicit Lines(int depth = 0) : depth_(depth) {}

  void add(const std::string& line) {
    if (line.empty() || line.front() == '#') {  // directives of the preprocessor start their line
      text_ += line + "\n";
    } else {
      text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + line + "\n";
    }
  }
  void open(const std::string& line) {
    add(line.empty() ? "{" : line + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    add("}");
  }
  // The same of a function that is a value: `};`.
  void close_with(const std::string& end) {
    --depth_;
    add("}" + end);
  }
  // Ends one block and begins another.
  void reopen(const std::string& line) {
    --depth_;
    add("} " + line + " {");
    ++depth_;
  }
  // A loop whose iterations are all written out by the compiler.
  void open_unrolled(const std::string& variable, int count) {
    add("#pragma unroll");
    open("for (int " + variable + " = 0; " + variable + " < " + std::to_string(count) + "; ++" + variable + ")");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

}  // namespace kiln::generators::cuda
