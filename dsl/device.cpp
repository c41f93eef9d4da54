#include "dsl/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "dsl/error.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

[[noreturn]] void fail(const TextCursor& cursor, const std::string& what) {
  throw UsageError(fmt::format("device, column {}: {}", cursor.column(), what));
}

// One key of the text: how it is written and read. The table is the text's order.
struct Key {
  std::string_view name;
  std::function<std::string(const Device&)> write;
  std::function<bool(Device&, const std::string&)> read;  // false: not a value of this key
  std::string_view expects;
};

template <typename Integer>
Key number(std::string_view name, Integer Device::*member) {
  return {name, [member](const Device& device) { return std::to_string(device.*member); },
          [member](Device& device, const std::string& text) {
            const auto value = parse_integer(text);
            if (!value || *value < 0 || *value > std::numeric_limits<Integer>::max()) return false;
            device.*member = static_cast<Integer>(*value);
            return true;
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

const std::vector<Key>& keys() {
  static const std::vector<Key> kKeys = {
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

std::string key_names() {
  std::vector<std::string> names;
  for (const Key& key : keys()) names.emplace_back(key.name);
  return listed(names);
}

// ` name=value`, the value quoted or up to the next blank.
const Key& read_key(TextCursor& cursor, Device& device) {
  const TextCursor start = cursor;
  const std::string name = cursor.take_while(is_word_part);
  const auto key = std::find_if(keys().begin(), keys().end(), [&](const Key& known) { return known.name == name; });
  if (key == keys().end())
    fail(start, name.empty() ? fmt::format("expected key=value, found {}", start.found())
                             : fmt::format("unknown key '{}'; the keys are {}", name, key_names()));
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
  std::string line = device.kind;
  for (const Key& key : keys()) line += fmt::format(" {}={}", key.name, key.write(device));
  return line;
}

Device parse_device(std::string_view line) {
  TextCursor cursor(line);
  Device device;
  device.kind = cursor.take_while(is_word_part);
  if (device.kind != "cpu") throw UsageError(fmt::format("device, column 1: expected 'cpu', found {}", TextCursor(line).found()));
  std::set<std::string_view> seen;
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const TextCursor start = cursor;
    const Key& key = read_key(cursor, device);
    if (!seen.insert(key.name).second) fail(start, fmt::format("'{}' is given twice", key.name));
  }
  for (const Key& key : keys())
    if (!seen.contains(key.name)) fail(cursor, fmt::format("'{}' is missing; the keys are {}", key.name, key_names()));
  return device;
}

Digest digest(const Device& device) { return digest("device", print(device)); }

}  // namespace kiln
