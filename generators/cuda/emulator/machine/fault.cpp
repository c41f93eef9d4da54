#include "generators/cuda/emulator/machine/fault.h"

#include <cstdarg>
#include <cstdio>

#include "generators/cuda/emulator/machine/addresses.h"

namespace kiln::generators::cuda::emulator {
namespace {

std::string formatted(const char* format, va_list arguments) {
  char text[2048];  // a message names a few objects
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

}  // namespace

std::string format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatted(format, arguments);
  va_end(arguments);
  return text;
}

void fail(const char* kind, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = std::string(kind) + ": " + formatted(format, arguments);
  va_end(arguments);
  if (const Thread* thread = machine().current)
    text += emulator::format("\n  in thread %u of block %u at line %d, %s", thread->index, thread->block->index, thread->line, thread->instruction);
  throw Fault{kind, std::move(text)};
}

std::string describe(const Thread& thread) {
  return format("thread %u of block %u at line %d (%s)", thread.index, thread.block->index, thread.line, thread.instruction);
}

std::string describe(const Stamp& stamp) {
  const AgentName& agent = machine().agents[stamp.agent];
  const int line = stamp.line;
  const unsigned index = agent.index;
  switch (agent.kind) {
    case AgentName::Kind::thread: return format("thread %u of block %u (line %d)", index, agent.block->index, line);
    case AgentName::Kind::loads:
      return format("the TMA load of line %d for mbarrier %s phase %u", line, mbarrier_name(*agent.block, agent.block->mbarriers.at(index)).c_str(), stamp.epoch - 1);
    case AgentName::Kind::wgmma: return format("the wgmma of line %d, group %u of warpgroup %u of block %u", line, stamp.epoch, index, agent.block->index);
    case AgentName::Kind::stores: return format("the TMA store of line %d, bulk group %u of thread %u of block %u", line, stamp.epoch, index, agent.block->index);
    case AgentName::Kind::copies: return format("the cp.async of line %d, group %u of thread %u of block %u", line, stamp.epoch, index, agent.block->index);
    case AgentName::Kind::previous_kernel: break;
  }
  return "the previous kernel";
}

std::string place_name(const Space& space, std::size_t at) {
  if (space.block == nullptr) return format("%s+%zu", space.name.c_str(), at);
  for (const Label& label : machine().launch.labels)
    if (at >= label.offset && at < label.offset + std::size_t{label.stride} * label.count)
      return format("%s[%zu]+%zu (block %u)", label.name.c_str(), (at - label.offset) / label.stride, (at - label.offset) % label.stride, space.block->index);
  return format("shared+%zu (block %u)", at, space.block->index);
}

std::string mbarrier_name(const Block& block, const Mbarrier& mbarrier) {
  std::string name = place_name(block.shared, mbarrier.address - kWindow);
  if (const std::size_t offset = name.find("]+0 "); offset != std::string::npos) name.erase(offset + 1, 2);
  return name;
}

}  // namespace kiln::generators::cuda::emulator
