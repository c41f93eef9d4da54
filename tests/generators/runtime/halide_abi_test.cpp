// Our copy of Halide's binary interface is Halide's.
#include <cstddef>
#include <type_traits>

#include <HalideRuntime.h>
#include <gtest/gtest.h>

#include "generators/runtime/halide_abi.h"

namespace {

TEST(halide_abi, layouts_are_those_of_halide) {
  EXPECT_EQ(sizeof(kiln_halide_buffer), sizeof(halide_buffer_t));
  EXPECT_EQ(offsetof(kiln_halide_buffer, device), offsetof(halide_buffer_t, device));
  EXPECT_EQ(offsetof(kiln_halide_buffer, host), offsetof(halide_buffer_t, host));
  EXPECT_EQ(offsetof(kiln_halide_buffer, flags), offsetof(halide_buffer_t, flags));
  EXPECT_EQ(offsetof(kiln_halide_buffer, type), offsetof(halide_buffer_t, type));
  EXPECT_EQ(offsetof(kiln_halide_buffer, dimensions), offsetof(halide_buffer_t, dimensions));
  EXPECT_EQ(offsetof(kiln_halide_buffer, dim), offsetof(halide_buffer_t, dim));
  EXPECT_EQ(sizeof(kiln_halide_dimension), sizeof(halide_dimension_t));
  EXPECT_EQ(offsetof(kiln_halide_dimension, min), offsetof(halide_dimension_t, min));
  EXPECT_EQ(offsetof(kiln_halide_dimension, extent), offsetof(halide_dimension_t, extent));
  EXPECT_EQ(offsetof(kiln_halide_dimension, stride), offsetof(halide_dimension_t, stride));
  EXPECT_EQ(sizeof(kiln_halide_type), sizeof(halide_type_t));
  EXPECT_EQ(offsetof(kiln_halide_type, bits), offsetof(halide_type_t, bits));
  EXPECT_EQ(offsetof(kiln_halide_type, lanes), offsetof(halide_type_t, lanes));
}

TEST(halide_abi, type_codes_are_those_of_halide) {
  EXPECT_EQ(static_cast<int>(KILN_TYPE_INT), static_cast<int>(halide_type_int));
  EXPECT_EQ(static_cast<int>(KILN_TYPE_UINT), static_cast<int>(halide_type_uint));
  EXPECT_EQ(static_cast<int>(KILN_TYPE_FLOAT), static_cast<int>(halide_type_float));
  EXPECT_EQ(static_cast<int>(KILN_TYPE_HANDLE), static_cast<int>(halide_type_handle));
  EXPECT_EQ(static_cast<int>(KILN_TYPE_BFLOAT), static_cast<int>(halide_type_bfloat));
}

}  // namespace
