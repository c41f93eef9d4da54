// The store: one SQLite file with every outcome of the tuner. This header opens it; the headers beside it say what can be kept:
// identities · builds · runs · trials · races · choices · demand · artifacts, and status, check, merge, export over them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "db/ids.h"
#include "db/sqlite.h"

namespace kiln::db {

inline constexpr std::int64_t kApplicationId = 0x4b494c4e;  // "KILN"
inline constexpr int kSchemaVersion = 2;

struct OpenOptions {
  Access access = Access::read_write_create;
  std::function<std::string()> now;  // RFC 3339 UTC with milliseconds; the system's clock when empty
};

// A failure, as the other headers keep it. `reason` is a word of kReasons; both numbers where there are two; `text` for people.
struct RejectionRow {
  std::string reason;
  std::optional<double> asked, allowed;
  std::string text;
  bool operator==(const RejectionRow&) const = default;
};

// The functions of the other headers take a Store, throw DataError when the file does not do as asked, and commit before they return
// unless the caller holds a transaction: `auto all = store.transaction("record a batch in");` … `all.commit();`.
class Store {
 public:
  // Opens `path`, creating and migrating it as `access` allows. ":memory:" is a store of its own. Throws DataError for a file that is no
  // store, is damaged, empty (unless it may be created), newer than this program, in a folder that cannot be written, or on a network
  // file system, where write-ahead logging is not safe.
  explicit Store(const std::string& path, const OpenOptions& options = {});

  Connection& connection() { return connection_; }
  const std::string& path() const { return connection_.path(); }
  std::string now() const { return now_(); }
  Transaction transaction(std::string what) { return Transaction(connection_, std::move(what)); }

 private:
  Connection connection_;
  std::function<std::string()> now_;
};

// What the folder of per-store files is called: "<path>.cache".
std::string cache_folder(const std::string& path);

// The system's time as the store writes it: "2026-01-31T05:06:07.089Z".
std::string utc_now();

// Seconds since 1970 of a time of that form (the milliseconds may be left out). Throws DataError naming the text that is none.
double seconds_since_epoch(const std::string& time);

}  // namespace kiln::db
