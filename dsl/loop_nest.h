// The loops of every stage while a schedule is read, directive by directive: what legality checks against and rewrites. No Halide here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/directive.h"
#include "dsl/schedule.h"
#include "dsl/stage_facts.h"

namespace kiln {

inline constexpr std::size_t kNoDirective = std::numeric_limits<std::size_t>::max();

// Lanes of one vector operation, the product over nested vectorised loops. Wider ones only cost compile time: the widest register holds 64
// bytes, and Halide compiles vectorize(x, 8192) for longer than anyone waits.
inline constexpr std::int64_t kMostLanes = 256;

// Copies of a loop body in one definition, the product over its unrolled loops. Register tiles need some tens; code beyond this leaves L1.
inline constexpr std::int64_t kMostCopies = 1024;

// Lanes × copies: the elements that one run of the body computes. What passes the two limits above, but not this one, compiles for minutes.
inline constexpr std::int64_t kMostElements = 4096;

enum class LoopKind : std::uint8_t { serial, parallel, vectorized, unrolled, gpu_block, gpu_thread };
std::string_view print(LoopKind kind);

enum class Tail : std::uint8_t {
  automatic, round_up, guard_with_if, predicate, predicate_loads, predicate_stores, shift_inwards, shift_inwards_and_blend, round_up_and_blend,
};
Tail tail_of(std::string_view name);  // a name of tail_strategies()
inline bool shifts(Tail tail) { return tail == Tail::shift_inwards || tail == Tail::shift_inwards_and_blend; }   // goes over elements again
inline bool blends(Tail tail) { return tail == Tail::shift_inwards_and_blend || tail == Tail::round_up_and_blend; }  // keeps what it finds there

struct LoopVariable {
  std::string name;                      // empty: made by vectorize, unroll or parallel with a factor, and beyond reach
  LoopKind kind = LoopKind::serial;
  bool is_reduction = false;
  bool is_ordered = false;               // see LoopFacts
  std::uint64_t roots = 0;               // which of the definition's own loops it stems from, one bit each
  std::optional<std::int64_t> constant;  // iterations, when known while compiling
  std::size_t marked_by = kNoDirective;  // the directive that gave its kind
  bool has_policy = false;               // said whether it is partitioned
};

struct LoopRewrite {
  enum class Kind : std::uint8_t { split, fuse };
  Kind kind = Kind::split;
  int old = 0, outer = 0, inner = 0;  // split: old becomes outer and inner; fuse: outer and inner become old
  std::int64_t factor = 1;
  Tail tail = Tail::automatic;        // as resolved by Halide's rule for Auto
  std::size_t directive = kNoDirective;
};

// What `prefetch` asked for. Loops by name, as Halide finds them when all is said.
struct Fetch {
  int stage = -1;           // whose storage, or the input's stage `A.in()` when the input itself is meant
  bool is_input = false;
  std::string at, from;
  std::size_t directive = kNoDirective;
};

// What `compute_with` asked for.
struct Companion {
  int stage = -1;           // -1: nothing was asked
  int update = -1;
  std::string loop;
  std::size_t directive = kNoDirective;
};

struct Definition {
  const DefinitionFacts* facts = nullptr;
  int update = -1;                       // -1: the pure one
  std::string condition;                 // of a specialization; empty: the definition itself
  std::vector<int> producers;            // by facts->uses: the stage of LoopNest that the use now reads
  std::vector<LoopVariable> variables;   // the first are facts->loops
  std::vector<int> order;                // those that are loops now, innermost first
  std::vector<LoopRewrite> rewrites;
  std::vector<Fetch> fetches;
  Companion companion;
  bool is_atomic = false;

  const LoopVariable& loop(int variable) const { return variables[static_cast<std::size_t>(variable)]; }
  int find(std::string_view name) const;      // a variable that is a loop now, or -1
  int place(int variable) const;              // in order; -1 when it is no loop any more
};

struct Level {
  enum class Kind : std::uint8_t { inlined, root, at };
  Kind kind = Kind::inlined;
  int stage = -1;
  std::string loop;
  std::size_t directive = kNoDirective;  // who said so; kNoDirective: the default
};

// A dimension whose storage `fold_storage` makes a ring.
struct Fold {
  std::int64_t factor = 0;               // 0: it does not
  bool forward = true;
  std::size_t directive = kNoDirective;
};

// What the directives of the CUDA back end say of the kernel that computes a stage at root. 0 and empty: nothing was said.
struct KernelShape {
  std::int64_t rows_per_block = 0, threads_per_row = 0;
  std::int64_t dot_columns = 0, dot_warps = 0, dot_teams = 0;  // dots
  std::int64_t strip_lanes = 0, strip_groups = 0;              // strips
  std::int64_t vector = 0, accesses = 0, blocks_per_sm = 0, cluster = 0;
  std::string fixed;                     // the loop whose extent is a constant of the text
  std::string loads, stores;             // hints to the caches
  std::int64_t consumers = 0;            // warpgroups that multiply, beside one that copies: warps
  bool is_pingpong = false;              // they take whole tiles in turn
  bool swaps_operands = false;           // the columns are the tall side of the tensor cores' instruction
  std::int64_t store_buffers = 0;        // parts of a tile on their way to memory at once, of each consumer
  bool is_persistent = false;            // as many blocks as run at once go on until all tiles are done
  std::string raster_loop;               // the block loop of which
  std::int64_t raster_group = 0;         // so many tiles come one after the other
  std::map<std::string, std::int64_t> l2_promotions;  // by argument: bytes that L2 fetches at once
  std::map<std::string, std::string> evictions;       // by argument: when L2 gives it up
  bool is_dependent = false;             // launched while the kernel before it still runs
  std::size_t said_by = kNoDirective;    // the first directive that says any of it
};

// What they say of a sum of products inside a kernel, of which tensor cores compute a tile at a time. Empty and 0: nothing was said.
struct TensorShape {
  std::string step;                      // the loop over the terms of one step: tensorize
  std::string staged_at;                 // the loop at which a step's operands lie ready,
  std::int64_t stages = 0;               // of so many steps at once: stage_in
  bool keeps_sums = false;               // however many terms there are, in the few bits of the tensor cores: tensorize(…, plain)
  std::string split_loop;                // the loop that
  std::int64_t parts = 0;                // so many blocks share: split_reduction
  std::size_t said_by = kNoDirective;    // the first directive that says any of it
};

struct StageLoops {
  std::string name;                      // as a directive refers to it: `c`, `B.in()`, `f.in(g)`
  const StageFacts* facts = nullptr;     // a wrapper's are those of what it wraps, but for its definition
  int wraps = -1;                        // the stage that a wrapper copies
  bool stores_output = false;            // into the caller's buffer: an output, or in its place a wrapper of it
  std::deque<Definition> definitions;    // the pure one, the updates, then specializations of either, as they are said
  Level compute, store, hoist;
  std::vector<Fold> folds;               // by dimension
  std::vector<std::optional<std::int64_t>> bounds;  // by dimension: the extent that `bound` fixed
  std::vector<bool> is_aligned;                     // by dimension: align_bounds moves where it starts and ends
  KernelShape kernel;
  TensorShape tensor;

  // Stored further out than computed: each iteration computes only what earlier ones did not, so its extents are not fixed.
  bool slides() const { return store.directive != kNoDirective && (store.kind != compute.kind || store.stage != compute.stage || store.loop != compute.loop); }
  bool is_output() const { return stores_output; }
  int updates() const;                   // how many
  const Definition* find(int update, const std::string& condition) const;  // null when there is no such one
  Definition* find(int update, const std::string& condition);
  bool is_inlined() const { return compute.kind == Level::Kind::inlined && updates() == 0 && !is_output(); }
  const std::vector<std::string>& loops() const { return facts->stage->loops; }
  int dimension(std::string_view loop) const;  // -1 when it is no dimension of the stage
};

class LoopNest {
 public:
  explicit LoopNest(const AlgorithmFacts& facts);
  LoopNest(const LoopNest&) = delete;
  LoopNest& operator=(const LoopNest&) = delete;

  // The stage that a reference names; makes the wrapper when it names one for the first time. Returns -1 and says why not.
  int refer(const std::string& reference, std::string& why_not);
  int find(const std::string& reference) const;  // among those that exist

  // The stage that holds the partial sums of `reduced` beside it: rfactor makes it, under the name that factored_name gives it.
  StageLoops& add_factored(const StageLoops& reduced, StageFacts facts);
  const DefinitionFacts& keep(DefinitionFacts facts);  // as long as the nest

  void note(NumericsEffect effect) { effect_ = std::max(effect_, effect); }
  NumericsEffect effect() const { return effect_; }  // the strongest that was noted
  void note_breach() { breaks_contract_ = true; }
  bool breaks_contract() const { return breaks_contract_; }  // a directive was refused because the contract allows less

  const AlgorithmFacts& facts() const { return facts_; }
  std::deque<StageLoops>& stages() { return stages_; }              // a stage stays where it is when others are added
  const std::deque<StageLoops>& stages() const { return stages_; }
  const StageLoops& stage(int index) const { return stages_[static_cast<std::size_t>(index)]; }
  std::vector<int> consumers_first() const;  // every stage after all that read it

 private:
  int make_wrapper(const std::string& reference, int wrapped, int consumer, std::string& why_not);
  std::string stage_names() const;

  const AlgorithmFacts& facts_;
  std::deque<StageLoops> stages_;
  NumericsEffect effect_ = NumericsEffect::none;
  bool breaks_contract_ = false;
  std::deque<DefinitionFacts> made_facts_;  // of wrappers and of what rfactor leaves
  std::deque<Stage> factored_stages_;
  std::deque<StageFacts> factored_facts_;
};

Definition first_loops(const DefinitionFacts& facts, int update);  // as they are before any directive
std::string name_of(const StageLoops& stage, const Definition& definition);  // "c", "update(0) of c"

std::string no_such_update(const StageLoops& stage);  // "c has 1 update: update(0)"

// `c` and `c.update(0)` as an argument.
struct DefinitionName {
  std::string stage;
  int update = -1;
};
DefinitionName split_definition_name(const std::string& word);

// What the stage that rfactor makes of `reduced` is called: `c_intm`, of a second one `c_intm#2`.
std::string factored_name(const std::string& reduced, const std::function<bool(const std::string&)>& is_taken);

// One directive at work: what its rule sees and may change.
struct Subject {
  const Directive& directive;
  std::size_t index;  // of the directive in the schedule
  LoopNest& nest;
  StageLoops& stage;
  Definition& definition;

  std::size_t count() const { return directive.arguments.size(); }
  const std::string& word(std::size_t i) const { return std::get<std::string>(directive.arguments[i]); }
  std::int64_t number(std::size_t i) const { return std::get<std::int64_t>(directive.arguments[i]); }
  Tail tail(std::size_t i) const { return i < count() ? tail_of(word(i)) : Tail::automatic; }
  std::string definition_name() const { return name_of(stage, definition); }
};

// The rules that several directives share. Each returns why not, or an empty text after it has rewritten the loops.

std::string no_such_loop(const Subject& subject, const std::string& name);
// The dimension of the stage that a word names, for bound, align_… and reorder_storage; -1 and why not.
int find_dimension(const Subject& subject, const std::string& name, std::string& why_not);
// Fixes the extent of an output's dimension, to what the problem says.
std::string bound_dimension(Subject& subject, const std::string& dimension, std::int64_t min, std::int64_t extent);
// compute_root, compute_at, compute_inline; store_root, store_at; hoist_storage_root, hoist_storage: `at` takes the stage and loop from the first two
// arguments. Whether the loop encloses all that reads the stage is known when all directives are read (dsl/placement).
std::string set_compute_level(Subject& subject, Level::Kind kind);
std::string set_store_level(Subject& subject, Level::Kind kind);
std::string set_hoist_level(Subject& subject, Level::Kind kind);
std::string split_loop(Subject& subject, const std::string& loop, const std::string& outer, const std::string& inner, std::int64_t factor,
                       Tail tail);
std::string fuse_loops(Subject& subject, const std::string& inner, const std::string& outer, const std::string& fused);
std::string reorder_loops(Subject& subject, const std::vector<std::string>& innermost_first);
std::string rename_loop(Subject& subject, const std::string& loop, const std::string& name);
std::string mark_loop(Subject& subject, const std::string& loop, LoopKind kind);
// gpu_blocks, gpu_threads: marks every loop that the directive names.
std::string mark_for_gpu(Subject& subject, LoopKind kind);
// Of a directive that a stage takes once.
std::string said_twice(const Subject& subject);
// Of a word that should name an input array of the algorithm.
std::string no_such_input(const Subject& subject, const std::string& name);
// rfactor: the update keeps the reduction loops that are named; a new stage has the partial sums over the others.
std::string factor_reduction(Subject& subject);
// vectorize, unroll and parallel with a factor: split, then mark the inner loop (the outer one for parallel).
std::string split_and_mark(Subject& subject, const std::string& loop, std::int64_t factor, Tail tail, LoopKind kind);

}  // namespace kiln
