// What a cubin says, and that none can make its reader crash.
#include "generators/cuda/compile/cubin.h"

#include <gtest/gtest.h>

#include "cubin_by_hand.h"
#include "dsl/error.h"

namespace kiln::generators::cuda::compile {
namespace {

const CubinKernel kKernel{.name = "k", .registers = 40, .barriers = 2, .max_threads = 256, .shared_bytes = 512, .stack_frame_bytes = 16, .parameter_bytes = 28, .code_bytes = 128};

std::string refusal(const std::string& file) {
  try {
    read_cubin(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The kernel's cubin with one part changed.
template <class Change>
std::string changed(std::size_t part, Change change) {
  std::vector<Part> parts = kernel_parts();
  change(parts[part]);
  return assembled(parts);
}

// The kernel's cubin with a field of a header overwritten.
template <class Header, class Change>
std::string patched(std::uint64_t offset, Change change) {
  std::string file = assembled(kernel_parts());
  Header header;
  std::memcpy(&header, file.data() + offset, sizeof header);
  change(header);
  std::memcpy(file.data() + offset, &header, sizeof header);
  return file;
}
template <class Change>
std::string patched_header(Change change) {
  return patched<Elf64_Ehdr>(0, change);
}
template <class Change>
std::string patched_section(std::size_t section, Change change) {
  const std::string file = assembled(kernel_parts());
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  return patched<Elf64_Shdr>(header.e_shoff + section * sizeof(Elf64_Shdr), change);
}

TEST(Cubin, gives_what_stands_in_it) { EXPECT_EQ(read_cubin(assembled(kernel_parts())), std::vector{kKernel}); }

TEST(Cubin, has_no_shared_memory_barriers_or_bounds_where_it_says_nothing) {
  std::vector<Part> parts = kernel_parts();
  parts.pop_back();
  parts[3].bytes = half_attribute(0x19, 28);
  CubinKernel plain = kKernel;
  plain.shared_bytes = plain.barriers = 0;
  plain.max_threads.reset();
  EXPECT_EQ(read_cubin(assembled(parts)), std::vector{plain});
}

TEST(Cubin, of_several_kernels_gives_each_its_own) {
  std::vector<Part> parts = kernel_parts();
  Elf64_Sym symbols[3] = {};
  symbols[1].st_name = 1;
  symbols[2].st_name = 3;
  parts[0].bytes = std::string("\0k\0other\0", 9);
  parts[1].bytes = bytes_of(symbols);
  parts[2].bytes += sized_attribute(0x2f, {2, 200});
  parts.push_back({.name = ".text.other", .bytes = std::string(64, '\1')});
  parts.push_back({.name = ".nv.info.other", .bytes = half_attribute(0x19, 8)});
  const CubinKernel other{.name = "other", .registers = 200, .parameter_bytes = 8, .code_bytes = 64};
  EXPECT_EQ(read_cubin(assembled(parts)), (std::vector{kKernel, other}));
}

TEST(Cubin, is_an_elf_file_for_cuda) {
  EXPECT_EQ(refusal(""), "the cubin cannot be read: its header: 64 bytes from byte 0, where there are 0");
  EXPECT_EQ(refusal(std::string(64, 'x')), "the cubin cannot be read: it is no ELF file");
  EXPECT_EQ(refusal(patched_header([](Elf64_Ehdr& h) { h.e_machine = EM_X86_64; })), "the cubin cannot be read: it is for machine 62; CUDA's number is 190");
  EXPECT_EQ(refusal(patched_header([](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; })), "the cubin cannot be read: it is not 64-bit and little-endian");
  EXPECT_EQ(refusal(patched_header([](Elf64_Ehdr& h) { h.e_shentsize = 40; })), "the cubin cannot be read: its section headers have 40 bytes, not 64");
}

TEST(Cubin, with_a_header_that_lies_is_refused) {
  const std::string size = std::to_string(assembled(kernel_parts()).size());
  EXPECT_EQ(refusal(patched_header([](Elf64_Ehdr& h) { h.e_shoff = UINT64_MAX - 8; })),
            "the cubin cannot be read: its section headers: 512 bytes from byte 18446744073709551607, where there are " + size);
  EXPECT_EQ(refusal(patched_header([](Elf64_Ehdr& h) { h.e_shstrndx = 8; })), "the cubin cannot be read: section 8 should name the sections; there are 8");
  EXPECT_EQ(refusal(patched_section(5, [](Elf64_Shdr& s) { s.sh_size = 1ull << 40; s.sh_offset = 64; })),
            "the cubin cannot be read: section 5: 1099511627776 bytes from byte 64, where there are " + size);
  EXPECT_EQ(refusal(patched_section(4, [](Elf64_Shdr& s) { s.sh_name = 1 << 20; })), "the cubin cannot be read: the name of section 4 does not end inside its table of 68 bytes");
  EXPECT_EQ(refusal(patched_section(2, [](Elf64_Shdr& s) { s.sh_link = 99; })), "the cubin cannot be read: section 99 should name the symbols; there are 8");
  EXPECT_EQ(refusal(patched_section(6, [](Elf64_Shdr& s) { s.sh_size = 1000; })), "the cubin cannot be read: .nv.shared.k has 1000 bytes of shared memory");
}

TEST(Cubin, with_attributes_that_lie_is_refused) {
  EXPECT_EQ(refusal(changed(2, [](Part& p) { p.bytes = sized_attribute(0x2f, {77, 40}); })), "the cubin cannot be read: symbol 77: 24 bytes from byte 1848, where there are 48");
  EXPECT_EQ(refusal(changed(2, [](Part& p) { p.bytes = sized_attribute(0x2f, {1}); })), "the cubin cannot be read: the value of attribute 47: 4 bytes from byte 4, where there are 4");
  EXPECT_EQ(refusal(changed(2, [](Part& p) { p.bytes.pop_back(); })), "the cubin cannot be read: an attribute in .nv.info: 8 bytes from byte 16, where there are 23");
  EXPECT_EQ(refusal(changed(3, [](Part& p) { p.bytes[0] = 9; })), "the cubin cannot be read: an attribute in .nv.info.k has the format 9; 1 to 4 are known");
  EXPECT_EQ(refusal(changed(3, [](Part& p) { p.bytes = sized_attribute(0x05, {1024, 1 << 30, 1 << 30}); })), "the cubin cannot be read: its blocks have more threads than 1024");
  EXPECT_EQ(refusal(changed(2, [](Part& p) { p.name = ".nv.other"; })), "the cubin cannot be read: it has no .nv.info");
  EXPECT_EQ(refusal(changed(1, [](Part& p) { p.name = ".symbols"; })), "the cubin cannot be read: it has no symbols");
}

TEST(Cubin, cut_off_anywhere_is_refused) {
  const std::string whole = assembled(kernel_parts());
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_TRUE(refusal(whole.substr(0, size)).starts_with("the cubin cannot be read: ")) << size << " bytes";
}

TEST(Cubin, with_any_byte_changed_is_read_or_refused) {
  const std::string whole = assembled(kernel_parts());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string file = whole;
      file[at] = static_cast<char>(file[at] ^ change);
      const std::string words = refusal(file);
      refused += words != "nothing was thrown";
      EXPECT_TRUE(words == "nothing was thrown" || words.starts_with("the cubin cannot be read: ")) << words;
    }
  EXPECT_GT(refused, whole.size() / 4);
}

}  // namespace
}  // namespace kiln::generators::cuda::compile
