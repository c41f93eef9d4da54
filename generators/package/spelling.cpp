#include "generators/package/spelling.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kiln::generators::package {

namespace {

// Reserved in one of the three languages, or used by the code we generate around arguments.
constexpr std::array kTaken = {
    "False",    "None",     "True",     "alignas",  "alignof",  "and",       "as",      "asm",      "assert",   "async",    "auto",
    "await",    "bool",     "break",    "case",     "catch",    "char",      "class",   "code",     "const",    "continue", "def",
    "default",  "del",      "delete",   "do",       "double",   "elif",      "else",    "enum",     "errno",    "except",   "explicit",
    "export",   "extern",   "false",    "finally",  "float",    "for",       "friend",  "from",     "global",   "goto",     "if",
    "import",   "in",       "inline",   "int",      "is",       "lambda",    "long",    "namespace", "new",     "noexcept", "nonlocal",
    "not",      "operator", "or",       "pass",     "plan",     "private",   "protected", "public", "raise",    "register", "restrict",
    "return",   "self",     "short",    "signed",   "sizeof",   "static",    "struct",  "switch",   "template", "tensors",  "this",
    "throw",    "true",     "try",      "typedef",  "union",    "unsigned",  "using",   "values",   "virtual",  "void",     "volatile",
    "while",    "with",     "xor",      "yield",
};

}  // namespace

bool is_identifier(std::string_view text) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) && std::all_of(text.begin(), text.end(), is_word);
}

std::string spelled(const std::string& name) {
  const bool is_taken = std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
  return is_taken ? name + "_" : name;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::string function_name(const KernelSet& set, const Entry& entry) { return set.name + "_" + entry.c_name; }

std::string c_type(DType type) {
  if (type == kBool) return "uint8_t";
  if (type == kFloat32) return "float";
  if (type == kFloat64) return "double";
  const bool is_signed = type.kind == TypeClass::signed_int;
  return (is_signed ? "int" : "uint") + std::to_string(type.bits) + "_t";
}

std::string dimension_name(const Entry& entry, const PackageArgument& argument, int dimension) {
  for (const PackageSymbol& symbol : entry.symbols) {
    for (const Axis& axis : symbol.axes) {
      if (axis.argument == argument.name && axis.dimension == dimension) return symbol.name;
    }
  }
  return argument.name + "." + std::to_string(dimension);
}

std::string shape_text(const Entry& entry, const PackageArgument& argument) {
  std::string text = "[";
  for (int d = argument.rank - 1; d >= 0; --d) text += dimension_name(entry, argument, d) + (d > 0 ? ", " : "");
  return text + "]";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

std::string with_names(const KernelSet& set, std::string text) { return replaced(replaced(std::move(text), "$$", upper(set.name)), "$", set.name); }

std::string c_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace kiln::generators::package
