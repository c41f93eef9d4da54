#include "db/artifacts.h"

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::db {

Digest put_artifact(Store& store, const std::string& kind, const std::string& bytes) {
  const Digest digest = content_digest(bytes);
  Transaction transaction = store.transaction("keep an artifact in");
  store.connection().run("INSERT INTO artifact (hash, kind, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", digest, kind, Blob{bytes});
  transaction.commit();
  return digest;
}

std::optional<std::string> get_artifact(Store& store, const Digest& digest) {
  Statement row = store.connection().query("SELECT bytes FROM artifact WHERE hash = ?1", digest);
  if (!row.step()) return std::nullopt;
  std::string bytes = row.blob(0);
  if (const Digest found = content_digest(bytes); found != digest)
    throw DataError(fmt::format("artifact {} in {} is damaged: its {} bytes have the digest {}; restore a backup or tune its problem again",
                                digest.short_hex(), store.path(), bytes.size(), found.short_hex()));
  return bytes;
}

bool has_artifact(Store& store, const Digest& digest) {
  return store.connection().query("SELECT 1 FROM artifact WHERE hash = ?1", digest).step();
}

}  // namespace kiln::db
