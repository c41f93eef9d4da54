// The device code and the emulating prelude declare the same: one text of a kernel compiles over both.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace kiln::generators::cuda::emulator {
namespace {

namespace fs = std::filesystem;

fs::path device_folder() { return fs::path(KILN_TESTS_DIR).parent_path() / "generators/cuda/device"; }
fs::path emulating_folder() { return fs::path(KILN_TESTS_DIR).parent_path() / "generators/cuda/emulator/device"; }

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string without_spaces(const std::string& text) { return std::regex_replace(text, std::regex(R"(\s+)"), " "); }

// "const TensorMap* map, u32 bar, int line = …" → "const TensorMap*,u32": names and the hidden line are left out.
std::string parameter_types(const std::string& parameters) {
  std::istringstream list(parameters);
  std::string types;
  for (std::string parameter; std::getline(list, parameter, ',');) {
    parameter = std::regex_replace(parameter, std::regex(R"(^\s+|\s+$)"), "");
    if (parameter.find("KILN_LINE") != std::string::npos) continue;
    static const std::regex kName(R"(^(.*[ *&(])(\w+)?(\)\[\w+\])?$)");
    std::smatch match;
    const bool is_lone_type = parameter.find(' ') == std::string::npos || parameter.back() == '*';
    if (!is_lone_type && std::regex_match(parameter, match, kName)) parameter = match.str(1) + match.str(3);
    types += (types.empty() ? "" : ",") + std::regex_replace(parameter, std::regex(R"(\s+$)"), "");
  }
  return types;
}

// What a file declares at the start of a line: functions as "name(types)", with what stands before them; enums; struct templates. Names that end in an
// underscore are the file's own.
std::vector<std::string> declarations(const std::string& text) {
  std::vector<std::string> found;
  static const std::regex kFunction(R"((?:^|\n)(template <[^>]*> )?(?:DEV )?((?:[a-z]\w*|Vec<BYTES>|T)) (\w+)\(([^{;]*)\)(?: \{|;))");
  for (std::sregex_iterator i(text.begin(), text.end(), kFunction), end; i != end; ++i) {
    if (i->str(3).back() == '_') continue;
    found.push_back(i->str(1) + i->str(2) + " " + i->str(3) + "(" + parameter_types(i->str(4)) + ")");
  }
  static const std::regex kOther(R"((?:^|\n)(enum [^;]*;|typedef [^;]*;|struct alignas[^;]*;|template <int BYTES> struct [^;]*;))");
  for (std::sregex_iterator i(text.begin(), text.end(), kOther), end; i != end; ++i)
    if (!std::regex_search(i->str(1), std::regex(R"(^enum class \w+_ )"))) found.push_back(without_spaces(i->str(1)));
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Made of the other files' functions alone: both compile this very file.
constexpr const char* kShared = "lanes.cuh";

TEST(Preludes, have_the_same_files_and_the_emulating_one_the_language_beside) {
  std::vector<std::string> emulating = names_in(emulating_folder());
  emulating.emplace_back(kShared);
  std::sort(emulating.begin(), emulating.end());
  std::erase(emulating, "language.cuh");
  EXPECT_EQ(names_in(device_folder()), emulating);
}

TEST(Preludes, declare_the_same) {
  std::size_t count = 0;
  for (const std::string& name : names_in(device_folder())) {
    if (name == kShared || name.starts_with("wgmma_")) continue;  // one template there, one specialisation a width here
    const std::vector<std::string> device = declarations(read(device_folder() / name));
    EXPECT_EQ(device, declarations(read(emulating_folder() / name))) << name;
    EXPECT_FALSE(device.empty()) << name;
    count += device.size();
  }
  EXPECT_GE(count, 75u);
}

// The operands that follow the R = N / 2 accumulators are numbered by hand.
TEST(Preludes, have_a_wgmma_of_every_width) {
  const std::string bf16 = read(device_folder() / "wgmma_bf16.cuh"), e4m3 = read(device_folder() / "wgmma_e4m3.cuh"), f16 = read(device_folder() / "wgmma_f16.cuh");
  for (int n = 8; n <= 256; n += 8) {
    const int r = n / 2;
    std::ostringstream common;
    common << "(" << n << ", " << r << ", " << r << ", " << r + 1 << ", " << r + 2;
    const std::string more = ", " + std::to_string(r + 3) + ", " + std::to_string(r + 4);
    EXPECT_NE(bf16.find("\nKILN_WGMMA" + common.str() + more + ")\n"), std::string::npos) << n;
    EXPECT_NE(f16.find("\nKILN_WGMMA_F16" + common.str() + more + ")\n"), std::string::npos) << n;
    EXPECT_NE(e4m3.find("\nKILN_WGMMA_E4M3" + common.str() + ")\n"), std::string::npos) << n;
  }
}

TEST(Preludes, have_the_same_wgmma_call) {
  for (const char* name : {"wgmma_bf16.cuh", "wgmma_e4m3.cuh", "wgmma_f16.cuh"}) {
    EXPECT_NE(read(device_folder() / name).find("static DEV void mma(float (&d)[R], u64 a, u64 b, int scale_d)"), std::string::npos) << name;
    EXPECT_NE(read(emulating_folder() / name).find("static DEV void mma(float (&d)[N / 2], u64 a, u64 b, int scale_d, KILN_LINE)"), std::string::npos) << name;
  }
}

TEST(Preludes, device_code_includes_nothing) {
  for (const std::string& name : names_in(device_folder())) EXPECT_EQ(read(device_folder() / name).find("#include"), std::string::npos) << name;
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
