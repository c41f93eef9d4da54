// Content-addressed files: how objects and algorithms travel between processes. The name is the SHA-256 of the bytes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kiln::autotune {

// An object file in a cache folder, with what is needed to call it.
struct ObjectRef {
  std::string hash;    // 64 hex digits
  std::string symbol;  // the function in argv form
  std::string target;  // as compiled
  bool operator==(const ObjectRef&) const = default;
};

// `<folder>/objects/<hash>.o` and `<folder>/algorithms/<hash>.json`. Everything here can be deleted between runs and is made again.
// A file appears whole or not at all (written aside, synced, renamed), so any number of processes may put the same bytes.
class Objects {
 public:
  explicit Objects(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }

  // Returns the hash. Throws DataError with the path and the system's words when the disk refuses.
  std::string put_object(std::string_view bytes) const { return put(bytes, "objects", ".o"); }
  std::string put_algorithm(std::string_view json) const { return put(json, "algorithms", ".json"); }

  // Throws DataError when there is no such file or its bytes are not those of the name.
  std::string object(const std::string& hash) const { return get(hash, "objects", ".o"); }
  std::string algorithm(const std::string& hash) const { return get(hash, "algorithms", ".json"); }

  bool has_object(const std::string& hash) const;

 private:
  std::string put(std::string_view bytes, const char* kind, const char* ending) const;
  std::string get(const std::string& hash, const char* kind, const char* ending) const;
  std::filesystem::path folder_;
};

// Writes `bytes` so that `path` holds all of them or what it held before, also after a power cut. Makes the folder. Throws DataError.
void write_whole(const std::filesystem::path& path, std::string_view bytes);
// Throws DataError naming the path.
std::string read_whole(const std::filesystem::path& path);

}  // namespace kiln::autotune
