// Objects, the device lock, and values as messages.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "autotune/probe.h"
#include "autotune/process/child.h"
#include "autotune/process/device_lock.h"
#include "autotune/process/messages.h"
#include "autotune/process/objects.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

class Folder : public ::testing::Test {
 protected:
  Folder() : path(std::filesystem::temp_directory_path() / ("kiln-files-" + std::to_string(::getpid()))) { std::filesystem::create_directories(path); }
  ~Folder() override { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

using Files = Folder;

TEST_F(Files, come_back_by_the_digest_of_their_bytes) {
  const Objects objects(path / "cache");
  const std::string bytes("\x7f" "ELF\0\1", 6);
  const std::string hash = objects.put_object(bytes);
  EXPECT_EQ(hash, content_digest(bytes).hex());
  EXPECT_EQ(objects.put_object(bytes), hash);
  EXPECT_EQ(objects.object(hash), bytes);
  EXPECT_TRUE(objects.has_object(hash));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path / "cache" / "objects"), {}), 1);
}

TEST_F(Files, that_were_damaged_are_refused) {
  const Objects objects(path);
  const std::string hash = objects.put_object("abc");
  const std::string file = (path / "objects" / (hash + ".o")).string();
  std::ofstream(file) << "abd";
  try {
    (void)objects.object(hash);
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()), file + " is damaged: its bytes have the digest " + content_digest("abd").short_hex() +
                                             "; delete it and it is built again");
  }
}

TEST_F(Files, that_are_missing_are_named) {
  const Objects objects(path);
  try {
    (void)objects.object("00");
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()), (path / "objects" / "00.o").string() + " cannot be read: No such file or directory");
  }
}

TEST_F(Files, are_written_whole_or_not_at_all) {
  std::filesystem::create_directories(path / "taken");
  EXPECT_THROW(write_whole(path / "taken", "abc"), DataError);  // a folder stands there
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 1);
}

using Lock = Folder;

TEST_F(Lock, is_refused_to_a_second_with_the_holders_name) {
  const Digest device = digest("device", "a");
  const DeviceLock held(device, "kiln tune matmul", path, false);
  try {
    const DeviceLock second(device, "kiln tune conv", path, false);
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    const std::string text = error.what(), start = "device " + device.short_hex() + " is measured by process " + std::to_string(::getpid()) + " (kiln tune matmul) since ";
    EXPECT_TRUE(text.starts_with(start)) << text;
    EXPECT_TRUE(text.ends_with("; wait for it with --wait")) << text;
  }
}

TEST_F(Lock, of_another_device_is_free) {
  const DeviceLock held(digest("device", "a"), "one", path, false);
  EXPECT_NO_THROW(DeviceLock(digest("device", "b"), "two", path, false));
}

TEST_F(Lock, is_free_again_afterwards) {
  const Digest device = digest("device", "a");
  { const DeviceLock held(device, "one", path, false); }
  EXPECT_NO_THROW(DeviceLock(device, "two", path, false));
}

TEST_F(Lock, is_waited_for_until_it_is_given_up_or_the_user_stops) {
  const Digest device = digest("device", "a");
  auto held = std::make_unique<DeviceLock>(device, "one", path, false);
  int told = 0;
  EXPECT_THROW(DeviceLock(device, "two", path, true, [&](const std::string&) { ++told; }, [&] { return told > 0; }), EnvironmentError);
  EXPECT_EQ(told, 1);
  EXPECT_NO_THROW(DeviceLock(device, "three", path, true, [&](const std::string&) { held.reset(); }));
}

TEST(Conditions, print_as_one_line_with_dashes_for_what_the_system_does_not_say) {
  EXPECT_EQ(print(Conditions{}), "governor=- boost=- smt=- aslr=-1 load=0.00 steal=0.0000");
  EXPECT_EQ(print(Conditions{"performance", true, false, 2, 0.426, 0.00125}), "governor=performance boost=1 smt=0 aslr=2 load=0.43 steal=0.0013");
}

TEST(Messages, keep_numbers_that_json_has_none_for) {
  EXPECT_TRUE(std::isnan(number_from(number(std::nan("")))));
  EXPECT_EQ(number_from(number(INFINITY)), INFINITY);
  EXPECT_EQ(number_from(number(-INFINITY)), -INFINITY);
  EXPECT_EQ(number_from(number(0.1)), 0.1);
}

TEST(Messages, keep_a_problem_and_a_build) {
  Problem problem;
  problem.operator_name = "matmul";
  problem.extents["m"] = 3;
  problem.params["bias"] = "true";
  problem.type = "f32";
  problem.type_param = "type";
  problem.orders["B"] = "nk";
  problem.symbol_order = {"m"};
  EXPECT_EQ(problem_from_json(to_json(problem)), problem);
  generators::Build build;
  build.key = digest("build", "x");
  build.rejection = generators::Rejection{generators::Reason::over_scratch, 12.0, 8.0, "too much"};
  build.predicted = generators::Predicted{};
  build.predicted->flops = 2e9;
  build.actual = generators::Actual{.vector_bits = 256};
  build.lower_ms = 1.5;
  build.log = "warning";
  const generators::Build back = build_from_json(Json::parse(to_json(build).dump()));
  EXPECT_EQ(back.key, build.key);
  EXPECT_EQ(back.rejection, build.rejection);
  EXPECT_EQ(back.predicted, build.predicted);
  EXPECT_EQ(back.actual, build.actual);
  EXPECT_EQ(back.lower_ms, 1.5);
  EXPECT_EQ(back.log, "warning");
}

TEST(Messages, throw_errors_as_what_they_were) {
  EXPECT_THROW(throw_error(error_to_json(UsageError("a"))), UsageError);
  EXPECT_THROW(throw_error(error_to_json(AlgorithmError("a"))), AlgorithmError);
  EXPECT_THROW(throw_error(error_to_json(ScheduleError("a"))), ScheduleError);
  EXPECT_THROW(throw_error(error_to_json(EnvironmentError("a"))), EnvironmentError);
  EXPECT_THROW(throw_error(error_to_json(DataError("a"))), DataError);
  EXPECT_THROW(throw_error(error_to_json(std::runtime_error("a"))), Error);
}

}  // namespace
}  // namespace kiln::autotune
