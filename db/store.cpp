#include "db/store.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "db/migrate.h"
#include "db/place.h"
#include "dsl/error.h"

namespace kiln::db {
namespace {

bool is_writing(Access access) { return access == Access::read_write || access == Access::read_write_create; }

// Creates the file when it may and must be, and says how to open it.
Access prepare(const std::string& path, Access access) {
  if (path == ":memory:") return Access::read_write_create;
  switch (inspect(path, access)) {
    case Place::absent: create(path); return Access::read_write;
    case Place::read_only: return Access::immutable;
    case Place::store: break;
  }
  return access == Access::read_write_create ? Access::read_write : access;
}

void require_own(Connection& connection) {
  Statement row = connection.query("PRAGMA application_id");
  row.step();
  if (row.integer(0) != kApplicationId)
    throw DataError(fmt::format("{} is a SQLite file of another program (application id 0x{:08x}, a Kiln store has 0x{:08x}); name another file with --db",
                                connection.path(), row.integer(0), kApplicationId));
}

void require_wal(Connection& connection) {
  Statement answer = connection.query("PRAGMA journal_mode = WAL");
  answer.step();
  if (answer.text(0) != "wal")
    throw DataError(fmt::format("cannot write {}: this file system refuses write-ahead logging (journal mode {}); move the file to a local disk",
                                connection.path(), answer.text(0)));
}

void open_file(Connection& connection, Access access) {
  require_own(connection);
  const int version = schema_version(connection);
  if (is_writing(access)) {
    migrate(connection, migrations(), kSchemaVersion);
    require_wal(connection);
    connection.script("PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;");
  } else if (version != kSchemaVersion) {
    throw DataError(fmt::format("{} has schema version {}, this program reads version {}; {}", connection.path(), version, kSchemaVersion,
                                version < kSchemaVersion ? "`kiln db check` migrates it" : "use the newer program"));
  }
}

}  // namespace

Store::Store(const std::string& path, const OpenOptions& options)
    : connection_(path, prepare(path, options.access)), now_(options.now ? options.now : utc_now) {
  Attempt attempt(connection_, "open");
  if (path == ":memory:") connection_.script(schema_sql());
  else open_file(connection_, options.access);
}

std::string cache_folder(const std::string& path) { return path + ".cache"; }

std::string utc_now() {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::int64_t ms = now.time_since_epoch().count();
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                     parts.tm_sec, ms % 1000);
}

double seconds_since_epoch(const std::string& text) {
  std::tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  double fraction = 0;
  if (rest && *rest == '.') {
    char* end = nullptr;
    fraction = std::strtod(rest, &end);
    rest = end;
  }
  if (!rest || std::string_view(rest) != "Z")
    throw DataError(fmt::format("\"{}\" is no time; a time looks like 2026-01-31T05:06:07Z", text));
  return static_cast<double>(timegm(&parts)) + fraction;
}

}  // namespace kiln::db
