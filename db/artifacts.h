// Bytes that outlive the cache: finalists' objects, algorithms. Their content's digest is their name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.h"

namespace kiln::db {

// `kind`: object · cubin · algorithm · launch. Storing the same bytes twice changes nothing. Returns content_digest(bytes).
Digest put_artifact(Store& store, const std::string& kind, const std::string& bytes);

// Nothing when it is not there; DataError when the stored bytes no longer have this digest.
std::optional<std::string> get_artifact(Store& store, const Digest& digest);
bool has_artifact(Store& store, const Digest& digest);

}  // namespace kiln::db
