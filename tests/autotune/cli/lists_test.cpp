#include "autotune/cli/pages/lists.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "autotune/records.h"
#include "db/identities.h"
#include "dsl/error.h"
#include "generators/package/from_store.h"
#include "schedules/devices.h"
#include "tests/db/temporary_folder.h"

namespace kiln::autotune::cli {
namespace {

Device xeon() {
  Device device;
  device.model = "Xeon";
  device.features = {"avx", "avx2"};
  device.cores = 2;
  device.l1_bytes = 32 << 10;
  device.l2_bytes = 1 << 20;
  device.l3_bytes = 32 << 20;
  device.vector_bytes = 32;
  return device;
}

TEST(Devices, cpus_and_gpus_have_a_table_each) {
  const KnownDevice cpu{"0123456789ab", "Xeon", xeon(), true, true, {}};
  const KnownDevice gpu{"ba9876543210", "NVIDIA H200", schedules::device_named("h200"), false, true, {"h200", "mine"}};
  const std::string cpus =
      "CPU           model  cores  vectors      L1     L2      L3  where\n"
      "0123456789ab  Xeon       2  256 bit  32 KiB  1 MiB  32 MiB  this machine, in the store\n";
  const std::string gpus =
      "GPU           model        arch    SMs  shared a block      L2   memory  where\n"
      "ba9876543210  NVIDIA H200  sm_90a  132         227 KiB  60 MiB  140 GiB  in the store, named h200, mine\n";
  EXPECT_EQ(print_devices({cpu, gpu}, false), cpus + "\n" + gpus);
  EXPECT_EQ(print_devices({cpu}, false), cpus);
  EXPECT_EQ(print_devices({gpu}, false), gpus);
  const auto json = nlohmann::json::parse(devices_json({cpu, gpu}));
  EXPECT_EQ(json[0]["kind"], "cpu");
  EXPECT_EQ(json[1]["kind"], "gpu");
  EXPECT_EQ(json[1]["names"], (std::vector<std::string>{"h200", "mine"}));
  EXPECT_EQ(parse_device(json[1]["text"].get<std::string>()), schedules::device_named("h200"));
}

TEST(Devices, a_gpu_of_the_store_is_known_by_its_names) {
  const db::TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  {
    db::Store store(path);
    keep(store, device_row(schedules::device_named("h100")));
  }
  const std::vector<KnownDevice> devices = known_devices(xeon(), path);
  ASSERT_EQ(devices.size(), 1 + schedules::named_devices().size());
  EXPECT_TRUE(devices[0].is_here);
  EXPECT_FALSE(devices[0].has_results);
  EXPECT_EQ(devices[1].device, identity(schedules::device_named("h100")));
  EXPECT_TRUE(devices[1].has_results);
  EXPECT_EQ(devices[1].names, (std::vector<std::string>{"h100", "sm_90a"}));
  EXPECT_EQ(devices[2].names, (std::vector<std::string>{"a100", "sm_80"}));
  EXPECT_EQ(known_devices(xeon(), folder.file("absent.db")).size(), 1 + schedules::named_devices().size());
}

TEST(Devices, the_row_of_a_gpu_has_its_columns) {
  db::Store store(":memory:");
  const Device& h200 = schedules::device_named("h200");
  const db::DeviceRow row = db::device(store, keep(store, device_row(h200)));
  EXPECT_EQ(row.kind, "cuda");
  EXPECT_EQ(row.arch, "sm_90a");
  EXPECT_EQ(row.units, 132);
  EXPECT_EQ(row.l1_bytes, std::nullopt);
  EXPECT_EQ(row.l2_bytes, 60 << 20);
  EXPECT_EQ(row.shared_bytes, 232448);
  EXPECT_EQ(row.memory_bytes, std::int64_t{140} << 30);
  EXPECT_EQ(row.digest, digest(h200));
  EXPECT_EQ(parse_device(row.text), identity(h200));
  // With another data sheet it is the same row, not a text that contradicts the digest.
  Device corrected = h200;
  corrected.gpu->memory_bytes_per_s += 1;
  EXPECT_EQ(db::devices(store).size(), 1u);
  keep(store, device_row(corrected));
  EXPECT_EQ(db::devices(store).size(), 1u);
}

}  // namespace
}  // namespace kiln::autotune::cli
