#include "autotune/cli/text_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "autotune/cli/units.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {

TextTable& TextTable::column(std::string header, Align align) {
  columns_.push_back({std::move(header), align});
  return *this;
}

void TextTable::row(std::vector<std::string> cells) {
  KILN_CHECK(cells.size() == columns_.size(), fmt::format("a row of {} cells in a table of {} columns", cells.size(), columns_.size()));
  rows_.push_back(std::move(cells));
}

std::string TextTable::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks(widths[i] - columns_of(cells[i]), ' ');
    if (i > 0) text += "  ";
    text += columns_[i].align == Align::left ? cells[i] + blanks : blanks + cells[i];
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string TextTable::print(bool colour) const {
  std::vector<std::size_t> widths;
  std::vector<std::string> headers;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headers.push_back(columns_[i].header);
    widths.push_back(columns_of(columns_[i].header));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  const std::string first = line(headers, widths);
  std::string text = (colour ? "\033[1m" + first + "\033[0m" : first) + "\n";
  for (const auto& row : rows_) text += line(row, widths) + "\n";
  return text;
}

bool stdout_takes_colour() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

std::string indented(const std::string& text, const std::string& prefix, std::size_t most) {
  std::istringstream lines(text);
  std::string result;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    if (most == 0 || count < most) result += prefix + line + "\n";
  if (most != 0 && count > most) result += fmt::format("{}… {} more line{}\n", prefix, count - most, count - most == 1 ? "" : "s");
  return result;
}

}  // namespace kiln::autotune::cli
