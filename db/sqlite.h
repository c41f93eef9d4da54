// SQLite's C API as values that clean up after themselves. Every answer other than a row or the end is a DataError that names the file,
// what was attempted, SQLite's words and a cure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "dsl/digest.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kiln::db {

// Bytes to be bound as BLOB; a plain string is bound as TEXT.
struct Blob {
  std::string_view bytes;
};

class Connection;

// A prepared statement on loan from its connection; given back, reset, when it goes out of scope.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  bool step();  // true: a row is there to be read

  // Columns count from 0. A text or blob is copied. NULL reads as 0 or "" here; the optional forms tell it apart.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string blob(int column) const;
  Digest digest(int column) const;  // throws DataError unless the column holds 32 bytes
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> optional_real(int column) const;
  std::optional<std::string> optional_text(int column) const;
  std::optional<Digest> optional_digest(int column) const;
  template <typename Id>
  Id id(int column) const { return static_cast<Id>(integer(column)); }
  template <typename Id>
  std::optional<Id> optional_id(int column) const { return is_null(column) ? std::nullopt : std::optional<Id>(id<Id>(column)); }
  int columns() const;
  std::string column_name(int column) const;
  bool is_blob(int column) const;
  bool is_number(int column) const;

 private:
  friend class Connection;
  Statement(Connection& connection, sqlite3_stmt* statement) : connection_(&connection), statement_(statement) {}
  void bind(int index, std::nullptr_t);
  void bind(int index, std::int64_t value);
  void bind(int index, double value);
  void bind(int index, std::string_view text);
  void bind(int index, Blob blob);
  void bind(int index, const Digest& digest);
  void bind(int index, const std::string& text) { bind(index, std::string_view(text)); }
  void bind(int index, const char* text) { bind(index, std::string_view(text)); }
  template <typename Number>
    requires std::is_integral_v<Number>
  void bind(int index, Number value) { bind(index, static_cast<std::int64_t>(value)); }
  template <typename Id>
    requires std::is_enum_v<Id>
  void bind(int index, Id value) { bind(index, static_cast<std::int64_t>(value)); }
  template <typename Value>
  void bind(int index, const std::optional<Value>& value) {
    if (value) bind(index, *value);
    else bind(index, nullptr);
  }

  Connection* connection_;
  sqlite3_stmt* statement_;
};

enum class Access {
  read_write_create,
  read_write,
  read_only,
  immutable,  // read-only, and nobody writes: works in a folder where no lock can be made
};

// One open file (or ":memory:"). Not for use by two threads, nor across fork. Foreign keys on, busy timeout 30 s, damaged pages noticed on reading.
class Connection {
 public:
  Connection(const std::string& path, Access access);
  Connection(Connection&&) = delete;
  ~Connection();

  // A statement with its ?1, ?2, … bound, ready to step. Text is always bound, never pasted into `sql`.
  template <typename... Values>
  Statement query(std::string_view sql, const Values&... values) {
    Statement statement = prepare(sql);
    int index = 0;
    (statement.bind(++index, values), ...);
    return statement;
  }
  // Runs a statement to its end; returns the number of rows changed.
  template <typename... Values>
  std::int64_t run(std::string_view sql, const Values&... values) {
    Statement statement = query(sql, values...);
    while (statement.step()) {}
    return changes();
  }
  void script(const std::string& sql);  // several statements, nothing bound

  std::int64_t last_id() const;
  bool in_transaction() const;
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(int code, std::string_view detail = {}) const;

 private:
  friend class Statement;
  friend class Attempt;
  struct Impl;
  Statement prepare(std::string_view sql);
  std::int64_t changes() const;

  std::string path_;
  std::string attempt_ = "read";  // completes "cannot … kiln.db"
  std::unique_ptr<Impl> impl_;
};

// Names what is being attempted, for the messages of everything inside its scope: Attempt attempt(connection, "record a build in").
class Attempt {
 public:
  Attempt(Connection& connection, std::string what);
  Attempt(const Attempt&) = delete;
  ~Attempt();

 private:
  Connection& connection_;
  std::string outer_;
};

// BEGIN IMMEDIATE in the constructor, rolled back by the destructor unless committed. Inside another transaction it joins that one:
// its commit is then the outer's.
class Transaction {
 public:
  Transaction(Connection& connection, std::string what);
  Transaction(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Attempt attempt_;
  Connection& connection_;
  bool outermost_;
  bool open_ = true;
};

}  // namespace kiln::db
