// Where a store may live, looked at before SQLite opens anything: its own answers for these mistakes do not say what to do.
#pragma once

#include <string>

#include "db/sqlite.h"

namespace kiln::db {

enum class Place {
  absent,     // nothing there, and it may be created
  store,      // a file that begins as a SQLite database
  read_only,  // the same in a folder that cannot be written, with nothing left in a write-ahead log
};

// Throws DataError naming the path and the cure: the folder is absent or cannot be written, the file is empty, a folder, too short or not a
// database, or on a network file system.
Place inspect(const std::string& path, Access access);

// The name of a network file system by its statfs type (NFS 0x6969), or nullptr: write-ahead logging needs memory shared by all writers.
const char* network_file_system(long type);

}  // namespace kiln::db
