// Where the stages of an algorithm are computed, as knobs of a space: put in place of each read, in the loops of a stage that reads it, or at root,
// where a loop nest ends and another begins. All boundaries between nests are among the points: 2^(n-1) of a chain of n stages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/algorithm.h"
#include "schedules/nest.h"
#include "schedules/regions.h"
#include "schedules/space.h"
#include "schedules/stage_graph.h"

namespace kiln::schedules {

// A place in the nest of a host.
struct Site {
  std::size_t host = 0;
  Walk walk = Walk::rows;
  NestLevel level = NestLevel::tile;
  bool operator==(const Site&) const = default;
};

// The words of a place, each one rule: `compute_at` at a level of the host's nest, `store_at` at another one further out.
struct PlaceRule {
  const char* word;
  NestLevel computed, stored;
  bool slides() const { return computed != stored; }
};
inline constexpr PlaceRule kPlaceRules[] = {
    {"tile", NestLevel::tile, NestLevel::tile}, {"row", NestLevel::row, NestLevel::row},    {"task", NestLevel::task, NestLevel::task},
    {"slide", NestLevel::row, NestLevel::task}, {"scroll", NestLevel::tile, NestLevel::row},
};
const PlaceRule* find_place_rule(const std::string& word);  // null for "inline", "root" and "columns": at root, walked by columns

struct FusionOptions {
  // Only the stages nearest to the outputs have knobs, this many; the others are inlined when read once, else at root.
  std::size_t most = 0;
  // By stage. One that is kept by the row, or slides down the rows, is at most most_row_bytes wide: what leaves the last cache is better at root.
  std::vector<std::int64_t> row_bytes;
  std::int64_t most_row_bytes = 0;
  std::vector<std::size_t> vector_loops;  // by stage: the loop that its vectors run along
};

// What the predicates of the space read too: they share it.
class Fusion : public std::enable_shared_from_this<Fusion> {
 public:
  // Declares the knobs.
  static std::shared_ptr<const Fusion> declare(Space& space, const Algorithm& algorithm, const FusionOptions& options);

  std::string place(std::size_t stage, const Point& p) const;
  // The site whose loops enclose the stage: of one in a nest; of an inlined one that of its readers. Nothing at root.
  std::optional<Site> site(std::size_t stage, const Point& p) const;
  Walk walk(std::size_t host, const Point& p) const;  // of a host at root, or an output

  const std::vector<std::size_t>& placed() const { return placed_; }  // producers first; outputs are not among them
  const std::map<std::size_t, WordKnob>& places() const { return places_; }
  const std::vector<Reader>& readers(std::size_t stage) const { return readers_[stage]; }
  bool is_host(std::size_t stage) const { return is_host_[stage]; }
  bool may_walk_columns(std::size_t host) const;
  const Following* following(std::size_t stage, std::size_t host) const;

 private:
  using Code = std::int64_t;  // of a site, or kNowhere
  struct Source {
    Code fixed = -1;
    std::optional<Knob> knob;
  };
  Fusion(const Algorithm& algorithm);
  void declare_all(Space& space, const FusionOptions& options);
  void declare_output(Space& space, std::size_t s);
  void declare_place(Space& space, std::size_t s, const std::vector<std::string>& words);
  void declare_copies(Space& space, std::size_t s);
  std::vector<std::string> words_of(std::size_t s, const FusionOptions& options) const;
  bool allows(std::size_t s, const Site& site, const PlaceRule& rule) const;
  bool has_placed_producer(std::size_t s) const;
  Code readers_site(std::size_t s, const Point* p) const;  // null when no reader's site depends on the point
  Code site_code(std::size_t s, const std::string& place, Code readers) const;
  std::vector<std::int64_t> codes_of(std::size_t s) const;
  std::vector<std::size_t> sites_read(std::size_t s) const;

  Algorithm algorithm_;
  std::vector<std::vector<Reader>> readers_;
  std::map<std::pair<std::size_t, std::size_t>, Following> followings_;
  std::vector<bool> is_host_, is_placed_;
  std::vector<std::uint64_t> vector_bits_;             // by stage: the loop of its vectors, as Following::touched has it
  std::vector<std::size_t> placed_;
  std::vector<std::int64_t> most_copies_;              // by stage: if everything it can be inlined into were
  std::map<std::size_t, WordKnob> places_;             // stages with more than one place
  std::map<std::size_t, std::string> fixed_places_;
  std::map<std::size_t, WordKnob> walks_;              // outputs that may be walked both ways
  std::map<std::size_t, Source> sites_;
  std::map<std::size_t, Knob> copies_;                 // how often each load that the stage makes is written out
};

}  // namespace kiln::schedules
