// A cubin made section by section: what tests read, and break.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kiln::generators::cuda::compile {

struct Part {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::string bytes;
  std::uint64_t size = 0;  // of a section without bytes in the file
  std::uint32_t link = 0;
};

template <class T>
std::string bytes_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// Attributes as .nv.info has them.
inline std::string byte_attribute(std::uint8_t attribute, std::uint8_t value) { return {2, static_cast<char>(attribute), static_cast<char>(value), 0}; }
inline std::string half_attribute(std::uint8_t attribute, std::uint16_t value) { return std::string{3, static_cast<char>(attribute)} + bytes_of(value); }
inline std::string sized_attribute(std::uint8_t attribute, const std::vector<std::uint32_t>& values) {
  std::string record = std::string{4, static_cast<char>(attribute)} + bytes_of(static_cast<std::uint16_t>(4 * values.size()));
  for (const std::uint32_t value : values) record += bytes_of(value);
  return record;
}

// Section 0 is the empty one, the parts follow in their order, the last names them. The section headers end the file.
inline std::string assembled(std::vector<Part> parts) {
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  parts.push_back({.name = ".shstrtab", .type = SHT_STRTAB, .bytes = {}});
  for (const Part& part : parts) {
    Elf64_Shdr& header = headers.emplace_back();
    header.sh_name = static_cast<std::uint32_t>(names.size());
    header.sh_type = part.type;
    header.sh_link = part.link;
    header.sh_size = part.size;
    names += part.name + '\0';
  }
  parts.back().bytes = names;
  std::string file(sizeof(Elf64_Ehdr), '\0');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    headers[i + 1].sh_offset = file.size();
    if (parts[i].type != SHT_NOBITS) headers[i + 1].sh_size = parts[i].bytes.size();
    file += parts[i].bytes;
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_CUDA;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<std::uint16_t>(headers.size());
  header.e_shstrndx = static_cast<std::uint16_t>(headers.size() - 1);
  std::memcpy(file.data(), &header, sizeof header);
  for (const Elf64_Shdr& one : headers) file += bytes_of(one);
  return file;
}

// One kernel, k: 40 registers, 2 barriers, 256 threads at most, 512 bytes of shared memory beside the system's, a frame of 16 bytes, 28 bytes of
// parameters, 128 bytes of code. Sections 1 to 6, in this order.
inline std::vector<Part> kernel_parts() {
  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = 1;
  return {{.name = ".strtab", .type = SHT_STRTAB, .bytes = std::string("\0k\0", 3)},
          {.name = ".symtab", .type = SHT_SYMTAB, .bytes = bytes_of(symbols), .link = 1},
          {.name = ".nv.info", .bytes = sized_attribute(0x2f, {1, 40}) + sized_attribute(0x11, {1, 16})},
          {.name = ".nv.info.k", .bytes = half_attribute(0x19, 28) + sized_attribute(0x05, {128, 2, 1}) + byte_attribute(0x4c, 2)},
          {.name = ".text.k", .bytes = std::string(128, '\1')},
          {.name = ".nv.shared.k", .type = SHT_NOBITS, .bytes = {}, .size = 1024 + 512}};
}

}  // namespace kiln::generators::cuda::compile
