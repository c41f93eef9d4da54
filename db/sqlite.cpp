#include "db/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <functional>
#include <unordered_map>
#include <utility>

#include "dsl/error.h"

namespace kiln::db {
namespace {

constexpr int kBusyTimeout_ms = 30000;  // longer than any transaction of ours, a merge included

// What the user can do about a primary result code.
const char* cure(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another program has been writing for 30 s; wait for it or end it, then run the same command again";
    case SQLITE_FULL: return "free some space and run the same command again; what was committed is kept";
    case SQLITE_CORRUPT: return "the file is damaged; restore a backup, or name another file with --db";
    case SQLITE_NOTADB: return "the file is not a Kiln store; name another file with --db";
    case SQLITE_READONLY:
    case SQLITE_PERM: return "the file and its folder must be writable; change their permissions or name another file with --db";
    case SQLITE_CANTOPEN: return "the folder must exist and be writable; create it or name another file with --db";
    case SQLITE_IOERR: return "the disk reported an error; see the kernel's log, and copy the file elsewhere";
    case SQLITE_NOMEM: return "memory ran out; end other programs and run the same command again";
    case SQLITE_CONSTRAINT: return "it contradicts what is stored; nothing was changed";
    default: return "nothing was changed";
  }
}

}  // namespace

struct Connection::Impl {
  sqlite3* file = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> idle;  // prepared, reset, not on loan
};

// ---- Connection

namespace {

// A path as a URI, so that "immutable" can be asked for; SQLite decodes %XX.
std::string uri(const std::string& path, const char* query) {
  std::string text = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else text += c;
  }
  return text + query;
}

int open_flags(Access access) {
  const int common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
  switch (access) {
    case Access::read_write_create: return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::read_write: return common | SQLITE_OPEN_READWRITE;
    case Access::read_only:
    case Access::immutable: return common | SQLITE_OPEN_READONLY;
  }
  return common;
}

}  // namespace

Connection::Connection(const std::string& path, Access access) : path_(path), impl_(std::make_unique<Impl>()) {
  attempt_ = "open";
  const std::string name = path == ":memory:" ? path : uri(path, access == Access::immutable ? "?immutable=1" : "");
  const int code = sqlite3_open_v2(name.c_str(), &impl_->file, open_flags(access), nullptr);
  try {
    if (code != SQLITE_OK) fail(code);
    sqlite3_busy_timeout(impl_->file, kBusyTimeout_ms);
    script("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;");
  } catch (...) {
    sqlite3_close_v2(impl_->file);
    throw;
  }
  attempt_ = "read";
}

Connection::~Connection() {
  for (const auto& [sql, statement] : impl_->idle) sqlite3_finalize(statement);
  sqlite3_close_v2(impl_->file);
}

void Connection::fail(int code, std::string_view detail) const {
  const std::string words(detail.empty() ? (impl_->file ? sqlite3_errmsg(impl_->file) : sqlite3_errstr(code)) : detail);
  throw DataError(fmt::format("cannot {} {}: {} (code {}); {}", attempt_, path_, words, code, cure(code)));
}

Statement Connection::prepare(std::string_view sql) {
  const auto found = impl_->idle.find(std::string(sql));
  if (found != impl_->idle.end()) {
    sqlite3_stmt* const statement = found->second;
    impl_->idle.erase(found);
    return Statement(*this, statement);
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(impl_->file, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  KILN_CHECK(statement != nullptr, "empty SQL: " + std::string(sql));
  return Statement(*this, statement);
}

void Connection::script(const std::string& sql) {
  const int code = sqlite3_exec(impl_->file, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Connection::last_id() const { return sqlite3_last_insert_rowid(impl_->file); }
std::int64_t Connection::changes() const { return sqlite3_changes64(impl_->file); }
bool Connection::in_transaction() const { return sqlite3_get_autocommit(impl_->file) == 0; }

// ---- Statement

Statement::Statement(Statement&& other) noexcept : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  auto& idle = connection_->impl_->idle;
  if (!idle.emplace(sqlite3_sql(statement_), statement_).second) sqlite3_finalize(statement_);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  connection_->fail(code);
}

// Binding fails only for an index the statement lacks or without memory.
#define KILN_BIND(call)                                     \
  do {                                                      \
    const int code = (call);                                \
    if (code != SQLITE_OK) connection_->fail(code);         \
  } while (false)

void Statement::bind(int index, std::nullptr_t) { KILN_BIND(sqlite3_bind_null(statement_, index)); }
void Statement::bind(int index, std::int64_t value) { KILN_BIND(sqlite3_bind_int64(statement_, index, value)); }
void Statement::bind(int index, double value) { KILN_BIND(sqlite3_bind_double(statement_, index, value)); }
void Statement::bind(int index, std::string_view text) {
  KILN_BIND(sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}
void Statement::bind(int index, Blob blob) {
  KILN_BIND(sqlite3_bind_blob64(statement_, index, blob.bytes.empty() ? "" : blob.bytes.data(), blob.bytes.size(), SQLITE_TRANSIENT));
}
void Statement::bind(int index, const Digest& digest) {
  KILN_BIND(sqlite3_bind_blob64(statement_, index, digest.bytes.data(), digest.bytes.size(), SQLITE_TRANSIENT));
}
#undef KILN_BIND

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
bool Statement::is_blob(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_BLOB; }
bool Statement::is_number(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_, column);
  return text ? std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))) : std::string();
}

std::string Statement::blob(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_, column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))) : std::string();
}

Digest Statement::digest(int column) const {
  const std::string bytes = blob(column);
  Digest digest;
  if (bytes.size() != digest.bytes.size())
    connection_->fail(SQLITE_CORRUPT, fmt::format("column {} holds {} bytes, a digest has {}", column_name(column), bytes.size(), digest.bytes.size()));
  for (std::size_t i = 0; i < bytes.size(); ++i) digest.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
  return digest;
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}
std::optional<double> Statement::optional_real(int column) const { return is_null(column) ? std::nullopt : std::optional(real(column)); }
std::optional<std::string> Statement::optional_text(int column) const { return is_null(column) ? std::nullopt : std::optional(text(column)); }
std::optional<Digest> Statement::optional_digest(int column) const { return is_null(column) ? std::nullopt : std::optional(digest(column)); }
int Statement::columns() const { return sqlite3_column_count(statement_); }
std::string Statement::column_name(int column) const { return sqlite3_column_name(statement_, column); }

// ---- Attempt, Transaction

Attempt::Attempt(Connection& connection, std::string what) : connection_(connection), outer_(std::exchange(connection.attempt_, std::move(what))) {}
Attempt::~Attempt() { connection_.attempt_ = std::move(outer_); }

Transaction::Transaction(Connection& connection, std::string what)
    : attempt_(connection, std::move(what)), connection_(connection), outermost_(!connection.in_transaction()) {
  if (outermost_) connection_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_ || !outermost_ || !connection_.in_transaction()) return;  // SQLite itself rolls back after some errors
  try {
    connection_.run("ROLLBACK");
  } catch (const DataError&) {
    // The error that led here is already on its way; closing the file rolls back as well.
  }
}

void Transaction::commit() {
  if (outermost_) connection_.run("COMMIT");
  open_ = false;
}

}  // namespace kiln::db
