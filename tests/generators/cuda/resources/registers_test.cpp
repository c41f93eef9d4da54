#include "generators/cuda/resources/registers.h"

#include <gtest/gtest.h>

#include "tests/generators/cuda/resources/gpus.h"

namespace kiln::generators::cuda::resources {
namespace {

const Gpu& h200() { return gpu_named("h200"); }

Roles roles_of(int consumers, int producer_registers, int consumer_registers) {
  return {.consumers = consumers, .producer_registers = producer_registers, .consumer_registers = consumer_registers};
}

TEST(Registers, a_block_starts_with_an_even_share) {
  EXPECT_EQ(entry_registers(384, h200()), 168);
  EXPECT_EQ(entry_registers(512, h200()), 128);
  EXPECT_EQ(entry_registers(256, h200()), 255);  // a thread cannot have more
  EXPECT_EQ(entry_registers(256, h200(), 2), 128);
  EXPECT_EQ(threads_of(roles_of(2, 40, 232)), 384);
}

// Read from the reports of 52 generated kernels, CUDA 13.0.88.
TEST(Registers, what_setmaxnreg_deals_out_must_be_there) {
  for (const Roles& legal : {roles_of(2, 24, 240), roles_of(2, 40, 232), roles_of(3, 32, 160), roles_of(1, 40, 216)})
    EXPECT_EQ(said(find_illegal_roles(legal, h200())), "legal");
  EXPECT_EQ(said(find_illegal_roles(roles_of(2, 24, 248), h200())),
            "over_registers 66560 > 64512: setmaxnreg deals out 66,560 registers: 128 threads with 24 and 256 with 248; a block of 384 threads has 64,512. "
            "Beside a producer with 24 each consumer may have 240.");
  EXPECT_EQ(said(find_illegal_roles(roles_of(3, 40, 168), h200())),
            "over_registers 69632 > 65536: setmaxnreg deals out 69,632 registers: 128 threads with 40 and 384 with 168; a block of 512 threads has 65,536. "
            "Beside a producer with 40 each consumer may have 152.");
  Roles pair = roles_of(1, 40, 216);
  pair.blocks_per_sm = 2;
  EXPECT_EQ(said(find_illegal_roles(pair, h200())), "legal");
  pair.consumer_registers = 224;
  EXPECT_EQ(find_illegal_roles(pair, h200())->asked, 33792);
  EXPECT_EQ(find_illegal_roles(pair, h200())->allowed, 32768);
}

TEST(Registers, a_count_that_setmaxnreg_does_not_take_is_refused) {
  EXPECT_EQ(said(find_illegal_roles(roles_of(2, 40, 228), h200())),
            "schedule_error 228 > 256: setmaxnreg 228 of the consumers: a multiple of 8 from 24 to 256 is needed; 224 would be one");
  EXPECT_EQ(said(find_illegal_roles(roles_of(2, 16, 232), h200())),
            "schedule_error 16 > 256: setmaxnreg 16 of the producer: a multiple of 8 from 24 to 256 is needed; 24 would be one");
  EXPECT_EQ(said(find_illegal_roles(roles_of(2, 40, 264), h200())),
            "schedule_error 264 > 256: setmaxnreg 264 of the consumers: a multiple of 8 from 24 to 256 is needed; 256 would be one");
  EXPECT_EQ(said(find_illegal_roles(roles_of(4, 40, 104), h200())), "schedule_error 4 > 3: 4 warpgroups compute; there can be 1 to 3");
}

TEST(Registers, the_most_that_consumers_may_have_is_legal_and_no_more_is) {
  for (const int consumers : {1, 2, 3})
    for (int producer = 24; producer <= 160; producer += 8) {
      Roles roles = roles_of(consumers, producer, 24);
      roles.consumer_registers = most_consumer_registers(roles, h200());
      EXPECT_EQ(said(find_illegal_roles(roles, h200())), "legal") << consumers << " " << producer;
      if (roles.consumer_registers == 256) continue;
      roles.consumer_registers += 8;
      EXPECT_NE(said(find_illegal_roles(roles, h200())), "legal") << consumers << " " << producer;
    }
  Gpu tiny = h200();
  tiny.sm_registers = 384 * 8;
  EXPECT_EQ(most_consumer_registers(roles_of(2, 24, 24), tiny), 0);
  EXPECT_NE(said(find_illegal_roles(roles_of(2, 24, 24), tiny)).find("A producer with 24 leaves too little for any consumer."), std::string::npos);
}

TEST(Registers, sums_have_a_ceiling_below_the_consumers_registers) {
  const Roles wide = roles_of(2, 24, 240), usual = roles_of(2, 40, 232), three = roles_of(3, 32, 160);
  EXPECT_EQ(accumulators({128, 256, 64}, wide), 128);
  EXPECT_EQ(accumulators({256, 192, 64}, wide), 192);
  EXPECT_EQ(said(find_overfull({256, 208, 64}, wide)), "legal");
  EXPECT_EQ(said(find_overfull({256, 224, 64}, wide)),
            "over_registers 224 > 208: a tile of m=256 n=224 takes 224 registers of a consumer's thread; of its 240 at most 208 can be. "
            "With m=256 the largest n that fits is 208.");
  EXPECT_EQ(said(find_overfull({128, 192, 64}, three)), "legal");
  EXPECT_EQ(said(find_overfull({192, 256, 64}, three)), "legal");
  EXPECT_NE(said(find_overfull({256, 256, 64}, three)), "legal");
  Roles pingpong = usual;
  pingpong.is_pingpong = true;
  EXPECT_EQ(accumulators({128, 192, 64}, pingpong), 192);
  EXPECT_EQ(said(find_overfull({128, 192, 64}, pingpong)), "legal");
  EXPECT_EQ(said(find_overfull({128, 192, 128}, pingpong, 96)),
            "over_registers 288 > 208: a tile of m=128 n=192 takes 288 registers of a consumer's thread, 96 temporaries among them; of its 232 at most 208 can "
            "be. With m=128 the largest n that fits is 112.");
  EXPECT_EQ(said(find_overfull({2048, 8, 64}, roles_of(1, 40, 24))).substr(0, 26), "over_registers 128 > 8: a ");
}

TEST(Registers, one_wgmma_must_fit_what_the_block_starts_with) {
  for (int n = 8; n <= 256; n += 8) EXPECT_EQ(said(find_illegal_wgmma(n, roles_of(2, 40, 232), h200())), "legal") << n;
  for (int n = 16; n <= 192; n += 16) EXPECT_EQ(said(find_illegal_wgmma(n, roles_of(3, 32, 160), h200())), "legal") << n;
  for (int n = 208; n <= 256; n += 16) EXPECT_EQ(find_illegal_wgmma(n, roles_of(3, 32, 160), h200())->reason, Reason::over_registers) << n;
  EXPECT_EQ(said(find_illegal_wgmma(256, roles_of(3, 32, 160), h200())),
            "over_registers 154 > 128: a wgmma of n=256 needs 154 registers a thread; a block of 512 threads starts with 128 (C7602). The largest n that fits is "
            "200.");
  EXPECT_EQ(said(find_illegal_wgmma(100, roles_of(2, 40, 232), h200())), "schedule_error 100 > 256: a wgmma of n=100: n is a multiple of 8 from 8 to 256");
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
