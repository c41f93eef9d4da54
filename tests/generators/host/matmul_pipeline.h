// A matrix product written straight in Halide, with the values that describe it: for tests of what comes after rebuilding and applying.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/rebuild.h"

namespace kiln::generators::host {

struct Matmul {
  Halide::ImageParam A{Halide::Float(32), 2, "A"}, B{Halide::Float(32), 2, "B"};
  Halide::Var n{"n"}, m{"m"}, no{"no"}, mo{"mo"}, ni{"ni"}, mi{"mi"};
  Halide::RDom k{0, A.dim(0).extent(), "k"};
  Halide::Func c{"c"}, y{"y"};

  Matmul() {
    c(n, m) = 0.f;
    c(n, m) += A(k, m) * B(n, k);
    y(n, m) = c(n, m);
  }

  Pipeline pipeline() {
    Pipeline out;
    out.pipeline = Halide::Pipeline(y);
    out.arguments = {A, B};
    out.stages = {{"c", c}, {"y", y}};
    out.output_stages = {"y"};
    return out;
  }

  // A register tile of `vectors` x `rows` vectors of `width` floats, the reduction outside it.
  Matmul& tiled(int vectors, int rows, int width) {
    y.tile(n, m, no, mo, ni, mi, vectors * width, rows).vectorize(ni, width).unroll(ni).unroll(mi);
    c.compute_at(y, no).vectorize(n, width).unroll(n).unroll(m);
    c.update().reorder(n, m, k).vectorize(n, width).unroll(n).unroll(m);
    return *this;
  }
};

inline Algorithm matmul_algorithm() {
  Algorithm algorithm;
  algorithm.generator = "matmul";
  const auto argument = [](std::string name, bool is_output) {
    Argument out;
    out.name = std::move(name);
    out.is_output = is_output;
    out.type = kFloat32;
    out.rank = 2;
    out.estimates.resize(2);
    return out;
  };
  algorithm.arguments = {argument("A", false), argument("B", false), argument("y", true)};
  algorithm.symbols = {{"k", {{"A", 0}, {"B", 1}}}, {"m", {{"A", 1}, {"y", 1}}}, {"n", {{"B", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n", "k"};
  return algorithm;
}

inline Problem matmul_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.operator_name = "matmul";
  problem.extents = {{"m", m}, {"n", n}, {"k", k}};
  problem.symbol_order = {"m", "n", "k"};
  return problem;
}

}  // namespace kiln::generators::host
