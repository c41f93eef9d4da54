#include "dsl/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <type_traits>

#include "dsl/error.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

[[noreturn]] void fail(const TextCursor& cursor, const std::string& what) {
  throw UsageError(fmt::format("device, column {}: {}", cursor.column(), what));
}

// One key of the text: how it is written and read. A table of them is the text's order.
struct Key {
  std::string_view name;
  std::function<std::string(const Device&)> write;
  std::function<bool(Device&, const std::string&)> read;  // false: not a value of this key
  std::string_view expects;
};
using Keys = std::vector<Key>;

template <typename Integer>
std::optional<Integer> natural(const std::string& text) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > std::numeric_limits<Integer>::max()) return std::nullopt;
  return static_cast<Integer>(*value);
}

// Where a field lives: in the device itself or in its GPU, which is there when a key of a GPU is read or written.
template <typename Owner, typename Whole>
auto& part(Whole& device) {
  if constexpr (std::is_same_v<Owner, Gpu>)
    return *device.gpu;
  else
    return device;
}

template <typename Integer, typename Owner>
Key number(std::string_view name, Integer Owner::*member) {
  return {name, [member](const Device& device) { return std::to_string(part<Owner>(device).*member); },
          [member](Device& device, const std::string& text) {
            const auto value = natural<Integer>(text);
            if (value) part<Owner>(device).*member = *value;
            return value.has_value();
          },
          "a number that is not negative"};
}

Key text(std::string_view name, std::string Device::*member) {
  return {name, [member](const Device& device) { return quoted(device.*member); },
          [member](Device& device, const std::string& value) { return (device.*member = value, true); }, "a text in quotes"};
}

bool read_features(Device& device, const std::string& text) {
  device.features.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) return false;
    device.features.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return std::is_sorted(device.features.begin(), device.features.end());
}

std::string write_features(const Device& device) {
  std::string joined;
  for (const std::string& feature : device.features) joined.append(joined.empty() ? "" : ",").append(feature);
  return joined;
}

bool read_arch(Device& device, const std::string& text) {
  device.gpu->arch = text;
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word_part);
}

bool read_capability(Device& device, const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return false;
  const auto major = natural<int>(text.substr(0, dot)), minor = natural<int>(text.substr(dot + 1));
  if (!major || !minor) return false;
  device.gpu->capability_major = *major;
  device.gpu->capability_minor = *minor;
  return true;
}

const Keys& cpu_keys() {
  static const Keys kKeys = {
      text("vendor", &Device::vendor),
      text("model", &Device::model),
      number("family", &Device::family),
      number("model_number", &Device::model_number),
      number("stepping", &Device::stepping),
      {"features", write_features, read_features, "sorted names joined by commas"},
      number("cores", &Device::cores),
      number("l1", &Device::l1_bytes),
      number("l2", &Device::l2_bytes),
      number("l3", &Device::l3_bytes),
      number("vector_bytes", &Device::vector_bytes),
      number("vector_registers", &Device::vector_registers),
  };
  return kKeys;
}

const Keys& gpu_keys() {
  static const Keys kKeys = {
      text("vendor", &Device::vendor),
      text("model", &Device::model),
      {"arch", [](const Device& device) { return device.gpu->arch; }, read_arch, "a word, as in sm_90a"},
      {"capability", [](const Device& device) { return fmt::format("{}.{}", device.gpu->capability_major, device.gpu->capability_minor); },
       read_capability, "a version, as in 9.0"},
      number("sms", &Gpu::sms),
      number("memory", &Gpu::memory_bytes),
      number("l2", &Gpu::l2_bytes),
      number("sm_threads", &Gpu::sm_threads),
      number("sm_blocks", &Gpu::sm_blocks),
      number("sm_barriers", &Gpu::sm_barriers),
      number("sm_registers", &Gpu::sm_registers),
      number("sm_shared", &Gpu::sm_shared_bytes),
      number("sm_partitions", &Gpu::sm_partitions),
      number("warp_threads", &Gpu::warp_threads),
      number("register_step", &Gpu::register_step),
      number("shared_step", &Gpu::shared_step_bytes),
      number("block_threads", &Gpu::block_threads),
      number("block_registers", &Gpu::block_registers),
      number("block_shared", &Gpu::block_shared_bytes),
      number("reserved_shared", &Gpu::reserved_shared_bytes),
      number("cluster_blocks", &Gpu::cluster_blocks),
      number("thread_registers", &Gpu::thread_registers),
      number("bandwidth", &Gpu::memory_bytes_per_s),
      number("clock", &Gpu::clock_hz),
      number("tensor_flops", &Gpu::tensor_flops),
  };
  return kKeys;
}

const Keys& keys_of(const Device& device) { return device.gpu ? gpu_keys() : cpu_keys(); }

std::string names_of(const Keys& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.emplace_back(key.name);
  return listed(names);
}

// ` name=value`, the value quoted or up to the next blank.
const Key& read_key(TextCursor& cursor, Device& device) {
  const Keys& keys = keys_of(device);
  const TextCursor start = cursor;
  const std::string name = cursor.take_while(is_word_part);
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& known) { return known.name == name; });
  if (key == keys.end())
    fail(start, name.empty() ? fmt::format("expected key=value, found {}", start.found())
                             : fmt::format("unknown key '{}'; the keys are {}", name, names_of(keys)));
  if (!cursor.take('=')) fail(cursor, fmt::format("expected '=' after '{}', found {}", name, cursor.found()));
  const TextCursor value_start = cursor;
  std::string value;
  if (cursor.peek() == '"') {
    const auto quoted_value = cursor.take_quoted();
    if (!quoted_value) fail(value_start, fmt::format("the text of '{}' has no closing quote", name));
    value = *quoted_value;
  } else {
    value = cursor.take_while([](char c) { return c != ' ' && c != '\n' && c != '\t'; });
  }
  if (!key->read(device, value)) fail(value_start, fmt::format("'{}' expects {}, found '{}'", name, key->expects, value));
  return *key;
}

}  // namespace

std::string print(const Device& device) {
  std::string line = device.kind();
  for (const Key& key : keys_of(device)) line += fmt::format(" {}={}", key.name, key.write(device));
  return line;
}

Device parse_device(std::string_view line) {
  TextCursor cursor(line);
  Device device;
  const std::string kind = cursor.take_while(is_word_part);
  if (kind != "cpu" && kind != "gpu")
    throw UsageError(fmt::format("device, column 1: expected 'cpu' or 'gpu', found {}", TextCursor(line).found()));
  if (kind == "gpu") device.gpu.emplace();
  std::set<std::string_view> seen;
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const TextCursor start = cursor;
    const Key& key = read_key(cursor, device);
    if (!seen.insert(key.name).second) fail(start, fmt::format("'{}' is given twice", key.name));
  }
  for (const Key& key : keys_of(device))
    if (!seen.contains(key.name)) fail(cursor, fmt::format("'{}' is missing; the keys are {}", key.name, names_of(keys_of(device))));
  return device;
}

Device identity(const Device& device) {
  Device same = device;
  if (same.gpu) same.gpu->memory_bytes_per_s = same.gpu->clock_hz = same.gpu->tensor_flops = 0;
  return same;
}

Digest digest(const Device& device) { return digest("device", print(identity(device))); }

void require_cpu(const Device& device, std::string_view what) {
  if (device.gpu) throw UsageError(fmt::format("{} is built for CPUs; {} is a GPU", what, device.model));
}

}  // namespace kiln
