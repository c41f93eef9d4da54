// Names for runs and races that no other machine gives.
#pragma once

#include <string>

namespace kiln::db {

std::string make_uuid();  // RFC 4122 version 4, lower case

}  // namespace kiln::db
