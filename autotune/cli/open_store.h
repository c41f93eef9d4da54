// How verbs open the store they were given.
#pragma once

#include "autotune/cli/verb.h"
#include "db/store.h"

namespace kiln::autotune::cli {

// For looking: works while a tuner writes, changes nothing. DataError when there is no store.
inline db::Store open_to_read(const Common& common) { return db::Store(common.db, {.access = db::Access::read_only, .now = {}}); }

// For changing what is there; makes nothing new.
inline db::Store open_to_write(const Common& common) { return db::Store(common.db, {.access = db::Access::read_write, .now = {}}); }

}  // namespace kiln::autotune::cli
