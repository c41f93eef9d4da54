// How elements of a type lie in memory and come out of it: the words of the kernel's text for them.
#pragma once

#include <string>
#include <string_view>

#include "dsl/dtype.h"

namespace kiln::generators::cuda {

struct Storage {
  std::string pointed;  // what a pointer to it points at: "u16" for bf16
  std::string at;       // the function that takes an element out of a vector's words
  std::string put;      // the function that puts elements into them
};

// Throws ScheduleError for a type that recognition would not let through.
Storage storage_of(DType type);

// One stored element as a value, and back.
std::string read_one(DType type, const std::string& stored);
std::string stored_one(DType type, const std::string& value);

// Codes of E4M3, which are u8, made of their f32 while they are stored.
inline constexpr std::string_view kPutE4M3 = "put_e4m3";
std::string stored_e4m3(const std::string& value);

}  // namespace kiln::generators::cuda
