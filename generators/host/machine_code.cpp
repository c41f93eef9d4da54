// Disassembles each function once into lines, then counts over the lines.
#include "generators/host/machine_code.h"

#include <llvm-c/Core.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Object.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "dsl/error.h"

namespace kiln::generators::host {
namespace {

// Intel syntax: "vmovups\tzmmword ptr [rsp + 64], zmm3".
struct Instruction {
  std::int64_t address = 0, size = 0;
  std::string mnemonic, operands;
};
using Function = std::vector<Instruction>;

struct Text {
  std::int64_t address = 0, bytes = 0;
  const char* contents = nullptr;
  std::vector<std::int64_t> starts;  // of its functions, sorted
};

template <auto dispose>
struct Dispose {
  template <typename T>
  void operator()(T* thing) const { dispose(thing); }
};
using Binary = std::unique_ptr<LLVMOpaqueBinary, Dispose<LLVMDisposeBinary>>;
using MemoryBuffer = std::unique_ptr<LLVMOpaqueMemoryBuffer, Dispose<LLVMDisposeMemoryBuffer>>;
using Sections = std::unique_ptr<LLVMOpaqueSectionIterator, Dispose<LLVMDisposeSectionIterator>>;
using Symbols = std::unique_ptr<LLVMOpaqueSymbolIterator, Dispose<LLVMDisposeSymbolIterator>>;
using Disassembler = std::unique_ptr<void, Dispose<LLVMDisasmDispose>>;

Disassembler make_disassembler() {
  static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    return true;
  }();
  (void)initialised;
  Disassembler disassembler(LLVMCreateDisasm("x86_64-unknown-linux-gnu", nullptr, 0, nullptr, nullptr));
  KILN_CHECK(disassembler != nullptr, "LLVM was linked without its x86 disassembler");
  LLVMSetDisasmOptions(disassembler.get(), LLVMDisassembler_Option_AsmPrinterVariant);
  return disassembler;
}

// Functions that start in the section the iterator stands on.
std::vector<std::int64_t> function_starts(LLVMOpaqueBinary* binary, LLVMOpaqueSectionIterator* section) {
  std::vector<std::int64_t> starts;
  const Symbols symbol(LLVMObjectFileCopySymbolIterator(binary));
  for (; !LLVMObjectFileIsSymbolIteratorAtEnd(binary, symbol.get()); LLVMMoveToNextSymbol(symbol.get()))
    if (LLVMGetSectionContainsSymbol(section, symbol.get()) && LLVMGetSymbolSize(symbol.get()) > 0)
      starts.push_back(static_cast<std::int64_t>(LLVMGetSymbolAddress(symbol.get())));
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

std::vector<Text> text_sections(LLVMOpaqueBinary* binary) {
  std::vector<Text> out;
  const Sections section(LLVMObjectFileCopySectionIterator(binary));
  for (; !LLVMObjectFileIsSectionIteratorAtEnd(binary, section.get()); LLVMMoveToNextSection(section.get())) {
    const char* name = LLVMGetSectionName(section.get());
    if (name == nullptr || std::strncmp(name, ".text", 5) != 0) continue;
    out.push_back({.address = static_cast<std::int64_t>(LLVMGetSectionAddress(section.get())),
                   .bytes = static_cast<std::int64_t>(LLVMGetSectionSize(section.get())),
                   .contents = LLVMGetSectionContents(section.get()),
                   .starts = function_starts(binary, section.get())});
  }
  return out;
}

Instruction parse(std::int64_t address, std::int64_t size, std::string_view text) {
  const auto trim = [](std::string_view s) {
    const auto first = s.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view{} : s.substr(first);
  };
  text = trim(text);
  const auto end = text.find_first_of(" \t");
  const std::string_view operands = end == std::string_view::npos ? std::string_view{} : trim(text.substr(end));
  return {address, size, std::string(text.substr(0, end)), std::string(operands)};
}

std::vector<Function> disassemble(const Text& text, void* disassembler) {
  std::vector<Function> functions(1);
  std::array<char, 256> line{};
  std::size_t next_start = 0;
  auto* bytes = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.contents));  // LLVM's signature; it only reads
  for (std::int64_t at = 0; at < text.bytes;) {
    const std::int64_t address = text.address + at;
    while (next_start < text.starts.size() && text.starts[next_start] <= address) {
      ++next_start;
      if (!functions.back().empty()) functions.emplace_back();
    }
    const std::size_t size = LLVMDisasmInstruction(disassembler, bytes + at, static_cast<std::uint64_t>(text.bytes - at),
                                                   static_cast<std::uint64_t>(address), line.data(), line.size());
    if (size == 0) {
      ++at;  // padding that is no instruction
      continue;
    }
    functions.back().push_back(parse(address, static_cast<std::int64_t>(size), line.data()));
    at += static_cast<std::int64_t>(size);
  }
  return functions;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// A jump prints its distance from the next instruction.
std::optional<std::int64_t> jump_target(const Instruction& instruction) {
  if (instruction.mnemonic.empty() || instruction.mnemonic.front() != 'j') return std::nullopt;
  const auto distance = number(instruction.operands);
  if (!distance) return std::nullopt;
  return instruction.address + instruction.size + *distance;
}

struct Loop {
  std::size_t first = 0, last = 0;  // positions in the function
};

// For each instruction the position it jumps to, if that lies in the function.
std::vector<std::optional<std::size_t>> jumps_of(const Function& function) {
  std::vector<std::optional<std::size_t>> jumps(function.size());
  for (std::size_t i = 0; i < function.size(); ++i) {
    const auto target = jump_target(function[i]);
    if (!target) continue;
    const auto found = std::lower_bound(function.begin(), function.end(), *target,
                                        [](const Instruction& instruction, std::int64_t address) { return instruction.address < address; });
    if (found != function.end() && found->address == *target) jumps[i] = static_cast<std::size_t>(found - function.begin());
  }
  return jumps;
}

bool falls_through(const Instruction& instruction) {
  return instruction.mnemonic != "jmp" && instruction.mnemonic != "ret" && instruction.mnemonic != "ud2";
}

// Can the jump at the end of the range be reached from its beginning without leaving it? Cold blocks behind a function jump back without being loops.
bool comes_round(const Function& function, const std::vector<std::optional<std::size_t>>& jumps, const Loop& range) {
  std::vector<bool> seen(range.last - range.first + 1, false);
  std::vector<std::size_t> open{range.first};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at < range.first || at > range.last || seen[at - range.first]) continue;
    if (at == range.last) return true;
    seen[at - range.first] = true;
    if (jumps[at]) open.push_back(*jumps[at]);
    if (falls_through(function[at])) open.push_back(at + 1);
  }
  return false;
}

std::vector<Loop> loops_of(const Function& function) {
  const auto jumps = jumps_of(function);
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < function.size(); ++i)
    if (jumps[i] && *jumps[i] <= i && comes_round(function, jumps, {*jumps[i], i})) loops.push_back({*jumps[i], i});
  return loops;
}

// Which instructions lie in a loop that has no other loop inside. Two jumps back to one place are one loop.
std::vector<bool> in_innermost_loops(const Function& function) {
  const std::vector<Loop> loops = loops_of(function);
  std::vector<bool> inside(function.size(), false);
  for (const Loop& loop : loops) {
    const bool has_inner = std::any_of(loops.begin(), loops.end(), [&](const Loop& other) { return other.first > loop.first && other.last <= loop.last; });
    if (!has_inner) std::fill(inside.begin() + static_cast<std::ptrdiff_t>(loop.first), inside.begin() + static_cast<std::ptrdiff_t>(loop.last) + 1, true);
  }
  return inside;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return text.starts_with(prefix); });
}

int vector_bits(const Instruction& instruction) {
  int bits = 0;
  for (const auto& [name, width] : {std::pair{"zmm", 512}, std::pair{"ymm", 256}, std::pair{"xmm", 128}})
    if (instruction.operands.find(name) != std::string::npos) {
      bits = width;
      break;
    }
  if (bits == 0) return 0;
  std::string_view verb = instruction.mnemonic;
  if (verb.front() == 'v') verb.remove_prefix(1);
  if (starts_with_any(verb, {"mov", "lddqu", "broadcast", "pbroadcast", "insert", "pinsr", "extract", "pextr", "perm", "shuf", "pshuf", "unpck", "punpck",
                             "pack", "align", "palign", "blend", "pblend", "gather", "pgather", "scatter", "pscatter", "expand", "compress", "zero",
                             "xor", "pxor", "ternlog", "pternlog", "maskmov", "pmov", "dup"}))
    return 0;
  return bits;
}

struct StackUse {
  bool load = false, store = false;
};

StackUse stack_use(const Instruction& instruction, bool rbp_is_frame) {
  const auto at = instruction.operands.find('[');
  if (at == std::string::npos || instruction.mnemonic == "lea" || instruction.mnemonic.starts_with("nop")) return {};
  const std::string_view address = std::string_view(instruction.operands).substr(at);
  const std::string_view inside = address.substr(0, address.find(']'));
  if (inside.find("rsp") == std::string_view::npos && !(rbp_is_frame && inside.find("rbp") != std::string_view::npos)) return {};
  const bool is_first = instruction.operands.find(',') > at;  // also when it is the only operand
  if (!is_first || starts_with_any(instruction.mnemonic, {"cmp", "test", "push", "call", "jmp", "ucomis", "vucomis", "prefetch"})) return {.load = true};
  const bool only_writes = starts_with_any(instruction.mnemonic, {"mov", "vmov", "vextract", "vpextr", "pextr", "extract", "set", "vpmov", "vcvtps2ph", "pop", "kmov"});
  return {.load = !only_writes, .store = true};
}

std::int64_t frame_bytes(const Function& function) {
  constexpr std::int64_t kRegisterBytes = 8;
  std::int64_t pushes = 0, largest = 0;
  bool body = false;
  for (const Instruction& instruction : function) {
    if (instruction.mnemonic == "push" && !body) pushes += kRegisterBytes;
    if (instruction.mnemonic == "pop" || instruction.mnemonic == "ret") body = true;
    if (instruction.mnemonic == "sub" && instruction.operands.starts_with("rsp, "))
      if (const auto bytes = number(std::string_view(instruction.operands).substr(5))) largest = std::max(largest, *bytes);
  }
  return pushes + largest;
}

void count(const Function& function, Actual& report) {
  const std::vector<bool> looped = in_innermost_loops(function);
  const bool rbp_is_frame = std::any_of(function.begin(), function.end(),
                                        [](const Instruction& i) { return i.mnemonic == "mov" && i.operands == "rbp, rsp"; });
  for (std::size_t i = 0; i < function.size(); ++i) {
    report.vector_bits = std::max(report.vector_bits, vector_bits(function[i]));
    if (!looped[i]) continue;
    const StackUse use = stack_use(function[i], rbp_is_frame);
    report.loop_stack_loads += use.load ? 1 : 0;
    report.loop_stack_stores += use.store ? 1 : 0;
  }
  report.stack_frame_bytes = std::max(report.stack_frame_bytes, frame_bytes(function));
}

}  // namespace

Actual read_machine_code(const std::string& object) {
  const MemoryBuffer buffer(LLVMCreateMemoryBufferWithMemoryRange(object.data(), object.size(), "object", 0));
  char* message = nullptr;
  const Binary binary(LLVMCreateBinary(buffer.get(), nullptr, &message));
  if (!binary) {
    const std::string words = message != nullptr ? message : "no reason given";
    LLVMDisposeMessage(message);
    throw Error("LLVM cannot read the object that Halide wrote: " + words);
  }
  const Disassembler disassembler = make_disassembler();
  Actual report;
  for (const Text& text : text_sections(binary.get())) {
    report.code_bytes += text.bytes;
    for (const Function& function : disassemble(text, disassembler.get())) count(function, report);
  }
  return report;
}

}  // namespace kiln::generators::host
