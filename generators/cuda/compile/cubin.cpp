// The sections of a cubin that are read, for a kernel k: .text.k, its code · .nv.shared.k, as large as its static shared memory · .nv.info.k, attributes of
// it · .nv.info, attributes of all functions, which name them by symbol. An attribute is {format, number} and a value as the format says. Formats and numbers
// are those of NVIDIA's cuda-gdb and of `cuobjdump -elf`, checked against what ptxas 13.0.88 prints with -v.
#include "generators/cuda/compile/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "dsl/error.h"

namespace kiln::generators::cuda::compile {
namespace {

enum Format : std::uint8_t { kNoValue = 1, kByteValue = 2, kHalfValue = 3, kSizedValue = 4 };
enum Attribute : std::uint8_t { kMaxThreads = 0x05, kFrameSize = 0x11, kParameterBytes = 0x19, kRegisterCount = 0x2f, kBarrierCount = 0x4c };

// Of the shared memory of a block the system keeps 1,024 bytes from sm_90 on; .nv.shared.k counts them.
constexpr std::int64_t kReservedSharedBytes = 1024;
constexpr std::uint64_t kMostThreads = 1024;  // of a block, in each dimension and in all

[[noreturn]] void unreadable(const std::string& what) { throw Error("the cubin cannot be read: " + what); }

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size, const std::string& what) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    unreadable(what + ": " + std::to_string(size) + " bytes from byte " + std::to_string(offset) + ", where there are " + std::to_string(bytes.size()));
  return bytes.substr(offset, size);
}

template <class T>
T value(std::string_view bytes, std::uint64_t offset, const std::string& what) {
  T result;
  std::memcpy(&result, part(bytes, offset, sizeof result, what).data(), sizeof result);
  return result;
}

std::string_view string_at(std::string_view table, std::uint64_t offset, const std::string& what) {
  const std::string_view rest = offset > table.size() ? std::string_view() : table.substr(offset);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) unreadable(what + " does not end inside its table of " + std::to_string(table.size()) + " bytes");
  return rest.substr(0, end);
}

struct Section {
  std::string_view name;
  Elf64_Shdr header{};
  std::string_view contents;  // empty where the file has none
};

Elf64_Ehdr elf_header(std::string_view file) {
  const auto header = value<Elf64_Ehdr>(file, 0, "its header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) unreadable("it is no ELF file");
  if (header.e_machine != EM_CUDA) unreadable("it is for machine " + std::to_string(header.e_machine) + "; CUDA's number is " + std::to_string(EM_CUDA));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) unreadable("it is not 64-bit and little-endian");
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    unreadable("its section headers have " + std::to_string(header.e_shentsize) + " bytes, not " + std::to_string(sizeof(Elf64_Shdr)));
  return header;
}

std::vector<Section> sections_of(std::string_view file) {
  const Elf64_Ehdr header = elf_header(file);
  const std::string_view table = part(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), "its section headers");
  part(file, header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize, "its program headers");
  std::vector<Section> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr& section = sections[i].header;
    section = value<Elf64_Shdr>(table, i * sizeof section, "a section header");
    if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS)
      sections[i].contents = part(file, section.sh_offset, section.sh_size, "section " + std::to_string(i));
  }
  if (header.e_shstrndx >= sections.size())
    unreadable("section " + std::to_string(header.e_shstrndx) + " should name the sections; there are " + std::to_string(sections.size()));
  for (std::size_t i = 0; i < sections.size(); ++i)
    sections[i].name = string_at(sections[header.e_shstrndx].contents, sections[i].header.sh_name, "the name of section " + std::to_string(i));
  return sections;
}

const Section* find(const std::vector<Section>& sections, const std::string& name) {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const Section& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

std::string_view symbol_name(const std::vector<Section>& sections, std::uint64_t index) {
  const Section* const symbols = find(sections, ".symtab");
  if (symbols == nullptr) unreadable("it has no symbols");
  const std::string what = "symbol " + std::to_string(index);
  const auto symbol = value<Elf64_Sym>(symbols->contents, index * sizeof(Elf64_Sym), what);
  const std::uint32_t names = symbols->header.sh_link;
  if (names >= sections.size()) unreadable("section " + std::to_string(names) + " should name the symbols; there are " + std::to_string(sections.size()));
  return string_at(sections[names].contents, symbol.st_name, "the name of " + what);
}

struct Record {
  std::uint8_t attribute;
  std::string_view bytes;

  std::uint64_t number(std::size_t index = 0) const {
    const std::string what = "the value of attribute " + std::to_string(attribute);
    if (bytes.size() == 1) return value<std::uint8_t>(bytes, index, what);
    if (bytes.size() == 2) return value<std::uint16_t>(bytes, 2 * index, what);
    return value<std::uint32_t>(bytes, 4 * index, what);
  }
};

std::vector<Record> records_of(const Section& section) {
  const std::string what = "an attribute in " + std::string(section.name);
  std::vector<Record> records;
  for (std::uint64_t at = 0; at < section.contents.size();) {
    const std::string_view head = part(section.contents, at, 4, what);
    const auto format = static_cast<std::uint8_t>(head[0]), attribute = static_cast<std::uint8_t>(head[1]);
    if (format < kNoValue || format > kSizedValue) unreadable(what + " has the format " + std::to_string(format) + "; 1 to 4 are known");
    const std::uint64_t size = format == kSizedValue ? value<std::uint16_t>(head, 2, what) : 0;
    std::string_view bytes;
    if (format == kByteValue) bytes = head.substr(2, 1);
    if (format == kHalfValue) bytes = head.substr(2, 2);
    if (format == kSizedValue) bytes = part(section.contents, at + 4, size, what);
    records.push_back({attribute, bytes});
    at += 4 + (size + 3) / 4 * 4;
  }
  return records;
}

std::int64_t threads_of(const Record& record) {
  std::uint64_t threads = 1;
  for (std::size_t dimension = 0; dimension < 3; ++dimension) {
    threads *= std::min(record.number(dimension), kMostThreads + 1);
    if (threads > kMostThreads) unreadable("its blocks have more threads than " + std::to_string(kMostThreads));
  }
  return static_cast<std::int64_t>(threads);
}

std::int64_t static_shared_bytes(const Section* section) {
  if (section == nullptr || section->header.sh_size == 0) return 0;
  if (section->header.sh_size < kReservedSharedBytes || section->header.sh_size > UINT32_MAX)
    unreadable(std::string(section->name) + " has " + std::to_string(section->header.sh_size) + " bytes of shared memory");
  return static_cast<std::int64_t>(section->header.sh_size) - kReservedSharedBytes;
}

CubinKernel kernel_of(const std::vector<Section>& sections, const Section& code) {
  CubinKernel kernel{.name = std::string(code.name.substr(std::strlen(".text."))), .code_bytes = static_cast<std::int64_t>(code.contents.size())};
  kernel.shared_bytes = static_shared_bytes(find(sections, ".nv.shared." + kernel.name));
  const Section* const attributes = find(sections, ".nv.info." + kernel.name);
  if (attributes == nullptr) return kernel;
  for (const Record& record : records_of(*attributes)) {
    if (record.attribute == kBarrierCount) kernel.barriers = static_cast<std::int64_t>(record.number());
    if (record.attribute == kParameterBytes) kernel.parameter_bytes = static_cast<std::int64_t>(record.number());
    if (record.attribute == kMaxThreads) kernel.max_threads = threads_of(record);
  }
  return kernel;
}

}  // namespace

std::vector<CubinKernel> read_cubin(std::string_view cubin) {
  const std::vector<Section> sections = sections_of(cubin);
  std::vector<CubinKernel> kernels;
  for (const Section& section : sections)
    if (section.name.starts_with(".text.")) kernels.push_back(kernel_of(sections, section));
  const Section* const attributes = find(sections, ".nv.info");
  if (attributes == nullptr) unreadable("it has no .nv.info");
  for (const Record& record : records_of(*attributes)) {
    if (record.attribute != kRegisterCount && record.attribute != kFrameSize) continue;
    const std::string_view name = symbol_name(sections, record.number(0));
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const CubinKernel& one) { return one.name == name; });
    if (kernel == kernels.end()) continue;
    (record.attribute == kRegisterCount ? kernel->registers : kernel->stack_frame_bytes) = static_cast<std::int64_t>(record.number(1));
  }
  return kernels;
}

}  // namespace kiln::generators::cuda::compile
