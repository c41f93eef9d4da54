// Opening, and everything that may be wrong with a place or a file.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "db/place.h"
#include "dsl/error.h"
#include "tests/db/sample_store.h"
#include "tests/db/temporary_folder.h"

namespace kiln::db {
namespace {

std::string opening(const std::string& path, Access access = Access::read_write_create) {
  return message_of<DataError>([&] { Store(path, {.access = access, .now = {}}); });
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

TEST(Open, creates_a_store_with_wal_and_nothing_beside_it) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  { Store store(path); }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files.push_back(entry.path().filename());
  EXPECT_EQ(files, std::vector<std::string>{"kiln.db"});
  Store store(path);
  const auto pragma = [&](const char* sql) {
    Statement row = store.connection().query(sql);
    row.step();
    return row.text(0);
  };
  EXPECT_EQ(pragma("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(pragma("PRAGMA synchronous"), "2");
  EXPECT_EQ(pragma("PRAGMA foreign_keys"), "1");
  EXPECT_EQ(pragma("PRAGMA user_version"), std::to_string(kSchemaVersion));
  EXPECT_EQ(pragma("PRAGMA application_id"), std::to_string(kApplicationId));
}

TEST(Open, keeps_what_was_stored) {
  const TemporaryFolder folder;
  { SampleStore sample(folder.file("kiln.db")); }
  Store store(folder.file("kiln.db"), {.access = Access::read_only, .now = {}});
  EXPECT_EQ(problems(store, "matmul").size(), 1u);
}

TEST(Open, names_what_is_wrong_with_the_file) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.db");
  EXPECT_EQ(opening(path, Access::read_only), "there is no store " + path + "; `kiln tune` creates one, --db names another");
  write(path, "");
  EXPECT_EQ(opening(path), path + " is empty (0 bytes): it was never a store, or was cut off; remove it to start anew, or restore a backup");
  write(path, "hello, this is no database at all");
  EXPECT_EQ(opening(path), path + " is not a Kiln store: it does not begin as a SQLite file; name another file with --db");
  EXPECT_EQ(opening(folder.path()), folder.path() + " is a folder, not a store; name a file with --db");
  EXPECT_EQ(opening(folder.file("no/x.db")),
            "cannot open " + folder.file("no/x.db") + ": there is no folder " + folder.file("no") + "; create it or name another file with --db");
}

TEST(Open, refuses_another_programs_file_and_a_newer_schema) {
  const TemporaryFolder folder;
  const std::string foreign = folder.file("foreign.db"), newer = folder.file("newer.db");
  {
    Connection other(foreign, Access::read_write_create);
    other.script("PRAGMA application_id = 7; CREATE TABLE t (x);");
  }
  EXPECT_EQ(opening(foreign),
            foreign + " is a SQLite file of another program (application id 0x00000007, a Kiln store has 0x4b494c4e); name another file with --db");
  { Store(newer).connection().script("PRAGMA user_version = 9"); }
  EXPECT_EQ(opening(newer),
            newer + " has schema version 9, this program knows versions up to 2; use the newer program, or name another file with --db");
  EXPECT_EQ(opening(newer, Access::read_only), newer + " has schema version 9, this program reads version 2; use the newer program");
}

TEST(Open, tells_a_damaged_file_from_a_good_one) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  { SampleStore sample(path); }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(4096 - 100, '\xee');
  }
  EXPECT_EQ(opening(path), "cannot open " + path + ": database disk image is malformed (code 11); the file is damaged; restore a backup, or name another "
                           "file with --db");
}

// As a user without rights, in a process of its own: the tests may run as root, for whom every folder is writable.
std::string as_nobody(const std::function<std::string()>& act) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(1);
    const std::string text = act();
    const ssize_t written = ::write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "the child failed";
}

TEST(Open, reads_but_does_not_write_in_a_read_only_folder) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  { SampleStore sample(path); }
  std::filesystem::permissions(path, std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  EXPECT_EQ(as_nobody([&] { return opening(path); }),
            "cannot write " + path + ": the file or its folder is read-only; change the permissions, or copy the file elsewhere and name the copy with --db");
  EXPECT_EQ(as_nobody([&] { return opening(folder.file("new.db")); }),
            "cannot create " + folder.file("new.db") + ": the folder " + folder.path() + " cannot be written (Permission denied); name a file elsewhere with --db");
  EXPECT_EQ(as_nobody([&] {
              Store store(path, {.access = Access::read_only, .now = {}});
              return std::to_string(problems(store).size());
            }),
            "1");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
}

TEST(Open, refuses_network_file_systems_by_name) {
  EXPECT_STREQ(network_file_system(0x6969), "NFS");
  EXPECT_STREQ(network_file_system(static_cast<long>(0xff534d42)), "CIFS");
  EXPECT_EQ(network_file_system(0xef53), nullptr) << "ext4";
  EXPECT_EQ(network_file_system(0x01021994), nullptr) << "tmpfs";
}

TEST(Store, says_when_the_disk_is_full_and_keeps_what_was_committed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  SampleStore sample(path);
  put_artifact(*sample, "object", "small");
  sample->connection().script("PRAGMA max_page_count = 80");
  EXPECT_EQ(message_of<DataError>([&] { put_artifact(*sample, "object", std::string(1 << 20, 'x')); }),
            "cannot keep an artifact in " + path + ": database or disk is full (code 13); free some space and run the same command again; what was committed is kept");
  EXPECT_TRUE(has_artifact(*sample, content_digest("small")));
  EXPECT_FALSE(sample->connection().in_transaction());
}

TEST(Store, survives_odd_paths) {
  const TemporaryFolder folder;
  const std::string path = folder.file("50% off? #1.db");
  { SampleStore sample(path); }
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(opening(path), "");
}

TEST(Artifacts, are_checked_when_they_are_read) {
  SampleStore sample;
  const Digest digest = put_artifact(*sample, "object", std::string("ELF\0bytes", 9));
  EXPECT_EQ(put_artifact(*sample, "object", std::string("ELF\0bytes", 9)), digest);
  EXPECT_EQ(get_artifact(*sample, digest)->size(), 9u);
  EXPECT_FALSE(get_artifact(*sample, content_digest("other")).has_value());
  sample->connection().run("UPDATE artifact SET bytes = x'00' WHERE hash = ?1", digest);
  EXPECT_EQ(message_of<DataError>([&] { get_artifact(*sample, digest); }),
            "artifact " + digest.short_hex() + " in :memory: is damaged: its 1 bytes have the digest " + content_digest(std::string(1, '\0')).short_hex() +
                "; restore a backup or tune its problem again");
}

TEST(Time, is_read_back_as_written) {
  EXPECT_DOUBLE_EQ(seconds_since_epoch("1970-01-02T00:00:01.500Z"), 86401.5);
  EXPECT_DOUBLE_EQ(seconds_since_epoch("1970-01-02T00:00:01Z"), 86401);
  EXPECT_EQ(utc_now().size(), 24u);
  EXPECT_EQ(message_of<DataError>([] { seconds_since_epoch("yesterday"); }), "\"yesterday\" is no time; a time looks like 2026-01-31T05:06:07Z");
}

}  // namespace
}  // namespace kiln::db
