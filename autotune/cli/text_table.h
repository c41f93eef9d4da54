// Columns that line up, for a terminal or a file.
#pragma once

#include <string>
#include <vector>

namespace kiln::autotune::cli {

enum class Align { left, right };

class TextTable {
 public:
  // The headers carry the units: "baseline", "calls/s".
  TextTable& column(std::string header, Align align = Align::left);
  // As many cells as columns.
  void row(std::vector<std::string> cells);
  bool is_empty() const { return rows_.empty(); }

  // Two blanks between columns, no blank at the end of a line; the headers first, bold when `colour`.
  std::string print(bool colour = false) const;

 private:
  struct Column {
    std::string header;
    Align align;
  };
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Whether stdout takes colour: a terminal that is not dumb, and NO_COLOR is not set.
bool stdout_takes_colour();

// Each line of `text` behind `prefix`; at most `most` lines (0: all), then how many were left out.
std::string indented(const std::string& text, const std::string& prefix, std::size_t most = 0);

}  // namespace kiln::autotune::cli
