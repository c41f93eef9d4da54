#include "db/migrate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "db/uuid.h"
#include "dsl/error.h"

namespace kiln::db {
namespace {

// Gives `draft` its name unless someone else was first. Hard links are refused by a few file systems (exFAT): those know renameat2.
void publish(const std::string& draft, const std::string& path) {
  if (link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST) {
    unlink(draft.c_str());
    return;
  }
  if (renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return;
  const int code = errno;
  unlink(draft.c_str());
  if (code != EEXIST) throw DataError(fmt::format("cannot create {}: {}; name a file elsewhere with --db", path, std::strerror(code)));
}

// An earlier copy is never overwritten: the next free number is taken.
void keep_copy(Connection& connection, int version) {
  const std::string base = fmt::format("{}.v{}", connection.path(), version);
  std::string copy = base;
  for (int n = 2; std::filesystem::exists(copy); ++n) copy = fmt::format("{}.{}", base, n);
  Attempt attempt(connection, "copy, before migrating it,");
  connection.run("VACUUM INTO ?1", copy);
}

}  // namespace

std::span<const Migration> migrations() {
  static constexpr Migration kSteps[] = {
      // A schedule whose threads add terms as they come has a word of its own. What a CHECK allows changes no row: the table keeps its pages, and a table
      // that comes and goes tells other connections to read the schema again.
      {1,
       "PRAGMA writable_schema = ON;"
       "UPDATE sqlite_schema SET sql = replace(sql, '''approximates'',', '''approximates'', ''any_order'',') WHERE name = 'schedule';"
       "PRAGMA writable_schema = RESET;"
       "CREATE TABLE changed (x); DROP TABLE changed;"},
  };
  return kSteps;
}

int schema_version(Connection& connection) {
  Statement row = connection.query("PRAGMA user_version");
  row.step();
  return static_cast<int>(row.integer(0));
}

void create(const std::string& path) {
  const std::string draft = path + ".new-" + make_uuid();
  try {
    Connection connection(draft, Access::read_write_create);
    Attempt attempt(connection, "create");
    connection.script("PRAGMA page_size = 4096; PRAGMA synchronous = FULL; BEGIN IMMEDIATE;");
    connection.script(schema_sql());
    connection.script("COMMIT;");
    Statement answer = connection.query("PRAGMA journal_mode = WAL");
    answer.step();
    if (answer.text(0) != "wal")
      throw DataError(fmt::format("cannot create {}: this file system refuses write-ahead logging (journal mode {}); name a file on a local disk "
                                  "with --db", path, answer.text(0)));
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(draft, ignored);
    throw;
  }
  publish(draft, path);
}

void migrate(Connection& connection, std::span<const Migration> steps, int target) {
  const int from = schema_version(connection);
  if (from > target)
    throw DataError(fmt::format("{} has schema version {}, this program knows versions up to {}; use the newer program, or name another file with --db",
                                connection.path(), from, target));
  if (from == target) return;
  keep_copy(connection, from);
  Transaction transaction(connection, fmt::format("migrate from version {} to {}", from, target));
  for (int version = schema_version(connection); version < target; ++version) {  // read again: another process may have been quicker
    const auto step = std::find_if(steps.begin(), steps.end(), [&](const Migration& each) { return each.from == version; });
    if (step == steps.end())
      throw DataError(fmt::format("{} has schema version {}, which this program cannot migrate; versions from 1 to {} are known", connection.path(),
                                  version, target));
    connection.script(step->sql);
    connection.script(fmt::format("PRAGMA user_version = {}", version + 1));
  }
  transaction.commit();
}

}  // namespace kiln::db
