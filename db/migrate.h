// From nothing to today's schema, and from any older version to it.
#pragma once

#include <span>
#include <string>

#include "db/sqlite.h"

namespace kiln::db {

// One step: what turns a file of version `from` into one of `from + 1`. Steps are never changed once released.
struct Migration {
  int from = 0;
  const char* sql = nullptr;
};

// Every released step, ascending and without gaps, from version 1 on.
std::span<const Migration> migrations();

const char* schema_sql();  // db/schema.sql as it was when the program was built

int schema_version(Connection& connection);

// Creates a store at `path` in one piece: it appears under its name complete or not at all, whoever else creates it at the same time.
void create(const std::string& path);

// Brings the file to `target`, in one transaction, after a copy to "<path>.v<from>" (left in place; a number is added when taken). Nothing to do: does nothing.
// Throws DataError for a newer file, naming both versions.
void migrate(Connection& connection, std::span<const Migration> steps, int target);

}  // namespace kiln::db
