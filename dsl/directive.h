// The table of directives: names, arguments, numerics effect. Each row is one file in dsl/directives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/schedule.h"

namespace kiln {

enum class ParameterKind : std::uint8_t {
  loop,           // a loop that exists
  new_loop,       // a name for a loop that does not exist yet
  number,
  stage,          // a stage reference: `c`, `B.in()`
  definition,     // a stage or one of its updates: `c`, `c.update(0)`
  buffer,         // a stage or an input: what a prefetch may ask for
  condition,      // what a specialization asks: dsl/condition.h
  tail,           // from here on a word of Halide's: a tail strategy,
  memory,         // a memory type,
  align,          // how compute_with aligns loops,
  fetch_bounds,   // what a prefetch does beyond the buffer's end,
  policy,         // whether a loop is partitioned,
  truth,          // true or false
  load_hint,      // of the CUDA back end: what a kernel's loads tell the caches,
  store_hint,     // and its stores,
  staging,        // where a kernel's operands wait,
  instruction,    // which multiplies them,
  sums,           // in how many bits it adds,
  roles,          // how warps share tiles,
  combination,    // how partial sums meet,
  eviction,       // what L2 is told of an argument
  word,
  key_value,      // `parallelism=2`
};
std::string_view print(ParameterKind kind);  // "a loop", "a number": as an error says it
const std::vector<std::string>* words_of(ParameterKind kind);  // of those kinds that are one word of a list; null for the others

struct Parameter {
  std::string_view name;  // as an error calls it
  ParameterKind kind;
};

// One way to call a directive.
struct Signature {
  std::vector<Parameter> parameters;
  std::size_t repeated = 0;  // so many of the last parameters may come again, any number of times
};

// What a directive does to the numbers that come out.
enum class NumericsEffect : std::uint8_t {
  none,                // the same operations in the same order for each element
  reorders_reduction,  // the terms of a reduction are added in another order
  partial_sums,        // a reduction is kept in several sums that are combined at the end, in an order that the schedule fixes
  any_order,           // threads combine the terms as they come: the bits may differ from call to call
  approximates,        // sums are kept in fewer bits than their type has: the error may grow with the number of terms
  unknown,             // not ours to say: an opaque schedule
};
std::string_view print(NumericsEffect effect);

struct Algorithm;
struct Subject;  // dsl/loop_nest.h: what a directive's legality rule sees

struct DirectiveSpec {
  std::string_view name;
  std::string_view sentence;
  std::vector<Signature> signatures;
  bool is_opaque = false;        // stands alone in a schedule and has no stage
  bool is_pure_only = false;     // belongs to the stage, not to one of its definitions: no .update(n) before it
  bool is_for_gpu = false;       // only the CUDA back end runs it
  bool is_for_launch = false;    // says how a kernel is launched: two schedules that differ in nothing else are built once
  NumericsEffect numerics = NumericsEffect::none;  // when it touches a reduction loop; on pure loops always none
  // Checks the directive against the loops as they are and rewrites them. Returns why not and what would do, or an empty text.
  std::string (*rewrite)(Subject&) = nullptr;
  std::string (*refuse_alone)(const Directive&, const Algorithm&) = nullptr;  // the same for opaque ones
};

// Sorted by name.
const std::vector<DirectiveSpec>& directives();
const DirectiveSpec* find_directive(std::string_view name);

// The candidate that a mistyped word most resembles, or empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Halide's names. What happens where a factor does not divide a loop: RoundUp computes more (an output must then be a multiple),
// GuardWithIf asks for each element, Predicate masks loads and stores (PredicateLoads, PredicateStores only those), ShiftInwards computes the
// last elements twice (an output must have at least one factor of them), …AndBlend writes back what was there, Auto is what Halide chooses:
// ShiftInwards, RoundUp in updates, GuardWithIf in reductions.
const std::vector<std::string>& tail_strategies();
const std::vector<std::string>& memory_types();

// Why the arguments fit no signature of the directive, and which of them to point at (-1: their number); nothing when they fit.
struct ArgumentMismatch {
  int argument = -1;
  std::string text;
};
std::optional<ArgumentMismatch> explain_mismatch(const DirectiveSpec& spec, const std::vector<DirectiveArgument>& arguments);

// The signature that the arguments fit, null when there is none.
const Signature* match_signature(const DirectiveSpec& spec, const std::vector<DirectiveArgument>& arguments);
std::string print(const DirectiveSpec& spec, const Signature& signature);  // "split(loop, outer, inner, factor)"

}  // namespace kiln
