// tile: two loops become blocks, the loops within a block innermost.
//   tile(x, y, xo, yo, xi, yi, xfactor, yfactor[, tail])   for y { for x } → for yo { for xo { for yi < yfactor { for xi < xfactor } } }
//   tile(x, y, xi, yi, xfactor, yfactor[, tail])           the same; the outer loops keep the names x and y
//   legal when:  both splits are (see split) and the reordering is (see reorder).
//   numerics:    reorders_reduction when both are reduction loops.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Tile {
  static DirectiveSpec spec() {
    return {.name = "tile",
            .sentence = "two loops become blocks, the loops within a block innermost",
            .signatures = {{long_form()}, {with_tail(long_form())}, {short_form()}, {with_tail(short_form())}},
            .numerics = NumericsEffect::reorders_reduction,
            .rewrite = rewrite};
  }

  static std::vector<Parameter> long_form() {
    return {{"x", ParameterKind::loop},      {"y", ParameterKind::loop},      {"xo", ParameterKind::new_loop},    {"yo", ParameterKind::new_loop},
            {"xi", ParameterKind::new_loop}, {"yi", ParameterKind::new_loop}, {"xfactor", ParameterKind::number}, {"yfactor", ParameterKind::number}};
  }

  static std::vector<Parameter> short_form() {
    return {{"x", ParameterKind::loop},      {"y", ParameterKind::loop},         {"xi", ParameterKind::new_loop},
            {"yi", ParameterKind::new_loop}, {"xfactor", ParameterKind::number}, {"yfactor", ParameterKind::number}};
  }

  static std::vector<Parameter> with_tail(std::vector<Parameter> parameters) {
    parameters.push_back({"tail", ParameterKind::tail});
    return parameters;
  }

  static std::string rewrite(Subject& subject) {
    const std::size_t inner = subject.count() >= 8 ? 4 : 2;  // where xi stands
    const std::string &x = subject.word(0), &y = subject.word(1), &xi = subject.word(inner), &yi = subject.word(inner + 1);
    const std::string &xo = inner == 4 ? subject.word(2) : x, &yo = inner == 4 ? subject.word(3) : y;
    const Tail tail = subject.tail(inner + 4);
    if (std::string why = split_loop(subject, x, xo, xi, subject.number(inner + 2), tail); !why.empty()) return why;
    if (std::string why = split_loop(subject, y, yo, yi, subject.number(inner + 3), tail); !why.empty()) return why;
    return reorder_loops(subject, {xi, yi, xo, yo});
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    if (calls.count() >= 8) {
      calls.definition().tile(calls.loop(0), calls.loop(1), calls.new_loop(2, 0), calls.new_loop(3, 1), calls.new_loop(4, 0), calls.new_loop(5, 1),
                              calls.number(6), calls.number(7), calls.tail(8));
    } else {
      calls.definition().tile(calls.loop(0), calls.loop(1), calls.new_loop(2, 0), calls.new_loop(3, 1), calls.number(4), calls.number(5),
                              calls.tail(6));
    }
  }
};

}  // namespace kiln::directive
