#include "db/place.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "dsl/error.h"

namespace kiln::db {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};  // how every SQLite file begins

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void require_local(const std::string& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return;
  if (const char* const name = network_file_system(static_cast<long>(facts.f_type)))
    throw DataError(fmt::format("cannot keep a store in {}: it is on {}, where write-ahead logging is not safe; name a file on a local disk with --db",
                                folder, name));
}

Place inspect_absent(const std::string& path, Access access, const std::string& folder) {
  if (access != Access::read_write_create)
    throw DataError(fmt::format("there is no store {}; `kiln tune` creates one, --db names another", path));
  if (::access(folder.c_str(), W_OK) != 0)
    throw DataError(fmt::format("cannot create {}: the folder {} cannot be written ({}); name a file elsewhere with --db", path, folder,
                                std::strerror(errno)));
  require_local(folder);
  return Place::absent;
}

void require_database(const std::string& path, std::uintmax_t size) {
  if (size == 0)
    throw DataError(fmt::format("{} is empty (0 bytes): it was never a store, or was cut off; remove it to start anew, or restore a backup", path));
  std::array<char, 16> start{};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(fmt::format("cannot read {}: {}; change its permissions or name another file with --db", path, std::strerror(errno)));
  file.read(start.data(), start.size());
  if (std::string_view(start.data(), static_cast<std::size_t>(file.gcount())) != kMagic)
    throw DataError(fmt::format("{} is not a Kiln store: it does not begin as a SQLite file; name another file with --db", path));
}

}  // namespace

const char* network_file_system(long type) {
  switch (static_cast<unsigned long>(type) & 0xffffffffUL) {  // linux/magic.h, and the file systems' own sources
    case 0x6969: return "NFS";
    case 0x517b: return "SMB";
    case 0xff534d42: return "CIFS";
    case 0xfe534d42: return "SMB2";
    case 0x5346414f: return "AFS";
    case 0x73757245: return "Coda";
    case 0x00c36400: return "Ceph";
    case 0x0bd00bd0: return "Lustre";
    case 0x47504653: return "GPFS";
    case 0x19830326: return "BeeGFS";
    default: return nullptr;
  }
}

Place inspect(const std::string& path, Access access) {
  const std::string folder = folder_of(path);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw DataError(fmt::format("cannot open {}: there is no folder {}; create it or name another file with --db", path, folder));
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return inspect_absent(path, access, folder);
  if (std::filesystem::is_directory(status))
    throw DataError(fmt::format("{} is a folder, not a store; name a file with --db", path));
  require_database(path, std::filesystem::file_size(path, error));

  const bool is_writable = ::access(path.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
  if (is_writable) {
    require_local(folder);
    return Place::store;
  }
  if (access == Access::read_write || access == Access::read_write_create)
    throw DataError(fmt::format("cannot write {}: the file or its folder is read-only; change the permissions, or copy the file elsewhere and name "
                                "the copy with --db", path));
  const std::uintmax_t pending = std::filesystem::file_size(path + "-wal", error);
  if (!error && pending > 0)
    throw DataError(fmt::format("cannot read {}: {} bytes of it are still in {}-wal and the folder is read-only; copy both files to a writable folder",
                                path, pending, path));
  return Place::read_only;
}

}  // namespace kiln::db
