// The texts of the shipped operators' problems, as they are written and as they print.
#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

std::string printed(const std::string& text) { return print(OperatorRun(text).problem()); }

// These operators were of f32 alone once, and problems of f32 kept their texts.
TEST(Problems, of_f32_do_not_say_so_where_they_never_did) {
  for (const char* name : {"rmsnorm", "softmax", "swiglu"}) {
    const std::string operator_name = name;
    EXPECT_EQ(printed(operator_name + "(m=256, n=4096)"), operator_name + "(m=256, n=4096)");
    EXPECT_EQ(printed(operator_name + "(m=256, n=4096, f32)"), operator_name + "(m=256, n=4096)");
    EXPECT_EQ(printed(operator_name + "(n=12288, m=1024, bf16)"), operator_name + "(m=1024, n=12288, bf16)");
  }
}

TEST(Problems, of_the_others_name_their_type_and_what_is_no_default) {
  EXPECT_EQ(printed("matvec()"), "matvec(m=1, n=4096, k=4096, f32)");
  EXPECT_EQ(printed("matvec(k=4096, n=12288, m=8, weights=kn, bf16)"), "matvec(m=8, n=12288, k=4096, bf16, weights=kn)");
  EXPECT_EQ(printed("matvec(m=1, n=64, k=64, weights=nk)"), "matvec(m=1, n=64, k=64, f32)");
  EXPECT_EQ(printed("swiglu_quant(m=1024, n=12288, bf16, scale=row)"), "swiglu_quant(m=1024, n=12288, bf16, scale=row)");
  EXPECT_EQ(printed("swiglu_quant(m=1024, n=12288, bf16)"), "swiglu_quant(m=1024, n=12288, bf16)");
  EXPECT_EQ(printed("transpose(m=7, n=9, u8)"), "transpose(m=7, n=9, u8)");
  EXPECT_EQ(printed("transpose(x.0=7, x.1=9)"), "transpose(m=7, n=9, f32)");
}

}  // namespace
}  // namespace kiln::tests
