// Every released version can still be opened; steps run once, together, after a copy.
#include "db/migrate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/error.h"
#include "tests/db/sample_store.h"
#include "tests/db/temporary_folder.h"

namespace kiln::db {
namespace {

constexpr Migration kToThree{2, "ALTER TABLE protocol ADD COLUMN note TEXT NOT NULL DEFAULT '';"};
constexpr Migration kToFour{3, "UPDATE protocol SET note = 'migrated';"};
constexpr Migration kBroken{3, "UPDATE protocol SET note = NULL;"};

int version_of(const std::string& path) {
  Connection connection(path, Access::read_only);
  return schema_version(connection);
}

// tests/db/fixtures/version_N.sql: a small store of version N as SQL text, never edited once the version is released.
void load_fixture(const std::string& name, const std::string& path) {
  std::ifstream file(std::string(KILN_TESTS_DIR) + "/db/fixtures/" + name);
  ASSERT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  Connection connection(path, Access::read_write_create);
  connection.script(text.str());
}

std::vector<std::string> schema_of(Connection& connection) {
  std::vector<std::string> parts;
  for (Statement row = connection.query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name"); row.step();) parts.push_back(row.text(0));
  return parts;
}

TEST(Fixture, of_version_1_opens_with_everything_in_it) {
  const TemporaryFolder folder;
  load_fixture("version_1.sql", folder.file("kiln.db"));
  Store store(folder.file("kiln.db"));
  EXPECT_EQ(findings(store), "");
  const ResultKey key{problems(store).at(0), devices(store).at(0), static_cast<ToolchainId>(1), static_cast<ProtocolId>(1)};
  EXPECT_EQ(schedule(store, verdict(store, key).chosen->schedule).text, "fast");
  EXPECT_EQ(choices_in_force(store).size(), 1u);
  EXPECT_EQ(get_artifact(store, content_digest("object of fast")), "object of fast");
}

TEST(Fixture, of_version_1_becomes_what_new_stores_are) {
  const TemporaryFolder folder;
  load_fixture("version_1.sql", folder.file("old.db"));
  { Store(folder.file("old.db")); }
  Connection old(folder.file("old.db"), Access::read_write);
  Store fresh(folder.file("new.db"));
  EXPECT_EQ(schema_of(old), schema_of(fresh.connection()));
  EXPECT_EQ(schema_version(old), kSchemaVersion);
  old.script("UPDATE schedule SET numerics_class = 'any_order';");
}

TEST(Fixture, of_the_latest_version_has_the_schema_that_new_stores_get) {
  const TemporaryFolder folder;
  load_fixture("version_" + std::to_string(kSchemaVersion) + ".sql", folder.file("old.db"));
  Connection old(folder.file("old.db"), Access::read_only);
  Store fresh(folder.file("new.db"));
  EXPECT_EQ(schema_of(old), schema_of(fresh.connection())) << "a changed schema needs a new version, a step in migrate.cpp and a fixture of its own";
}

TEST(Migrate, takes_each_step_once_and_leaves_a_copy) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  { SampleStore sample(path); }
  Connection connection(path, Access::read_write);
  const Migration steps[] = {kToThree, kToFour};
  migrate(connection, steps, 4);
  EXPECT_EQ(schema_version(connection), 4);
  EXPECT_EQ(version_of(path + ".v2"), 2);
  Statement row = connection.query("SELECT note FROM protocol");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.text(0), "migrated");
  migrate(connection, steps, 4);
  EXPECT_FALSE(std::filesystem::exists(path + ".v4"));
}

TEST(Migrate, changes_nothing_when_a_step_fails_and_never_overwrites_a_copy) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  { SampleStore sample(path); }
  Connection connection(path, Access::read_write);
  const Migration steps[] = {kToThree, kBroken};
  EXPECT_EQ(message_of<DataError>([&] { migrate(connection, steps, 4); }),
            "cannot migrate from version 2 to 4 " + path + ": NOT NULL constraint failed: protocol.note (code 1299); it contradicts what is stored; nothing was changed");
  EXPECT_EQ(schema_version(connection), 2);
  EXPECT_NE(message_of<DataError>([&] { migrate(connection, steps, 4); }), "");
  EXPECT_TRUE(std::filesystem::exists(path + ".v2.2"));
}

TEST(Migrate, names_both_versions_when_it_cannot) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  { SampleStore sample(path); }
  Connection connection(path, Access::read_write);
  const Migration steps[] = {kToFour};
  EXPECT_EQ(message_of<DataError>([&] { migrate(connection, steps, 4); }),
            path + " has schema version 2, which this program cannot migrate; versions from 1 to 4 are known");
  EXPECT_EQ(message_of<DataError>([&] { migrate(connection, {}, 0); }),
            path + " has schema version 2, this program knows versions up to 0; use the newer program, or name another file with --db");
}

}  // namespace
}  // namespace kiln::db
