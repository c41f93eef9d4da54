#include "schedules/fusion.h"

#include <algorithm>
#include <set>

#include "dsl/error.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// An inlined stage is computed once for every path that leads to it; more than this many and its code outgrows its use.
constexpr std::int64_t kMostCopies = 12;
constexpr std::int64_t kNowhere = -1;

std::int64_t encode(const Site& site) {
  return static_cast<std::int64_t>(site.host) * 8 + (site.walk == Walk::columns ? 4 : 0) + static_cast<std::int64_t>(site.level);
}

std::optional<Site> decode(std::int64_t code) {
  if (code == kNowhere) return std::nullopt;
  return Site{static_cast<std::size_t>(code / 8), (code & 4) != 0 ? Walk::columns : Walk::rows, static_cast<NestLevel>(code & 3)};
}

// The innermost place that encloses both.
std::int64_t meet(std::int64_t a, std::int64_t b) { return a == kNowhere || b == kNowhere || a / 4 != b / 4 ? kNowhere : std::min(a, b); }

bool contains(const std::vector<std::string>& words, const std::string& word) { return std::count(words.begin(), words.end(), word) > 0; }

bool is_read_by_reductions(const Algorithm& algorithm, const std::vector<Reader>& readers) {
  return std::any_of(readers.begin(), readers.end(), [&](const Reader& reader) {
    const auto& updates = algorithm.stages[reader.stage].updates;
    return std::any_of(updates.begin(), updates.end(), [](const Update& update) { return !update.reduction.empty(); });
  });
}

}  // namespace

const PlaceRule* find_place_rule(const std::string& word) {
  const auto found = std::find_if(std::begin(kPlaceRules), std::end(kPlaceRules), [&](const PlaceRule& rule) { return rule.word == word; });
  return found == std::end(kPlaceRules) ? nullptr : found;
}

Fusion::Fusion(const Algorithm& algorithm) : algorithm_(algorithm), readers_(readers_of(algorithm)), followings_(followings(algorithm)) {
  algorithm_.pipeline.clear();  // large, and of no use here
  algorithm_.own_pipeline.clear();
  const std::size_t count = algorithm.stages.size();
  is_placed_.resize(count);
  most_copies_.assign(count, 1);
  for (std::size_t s = 0; s < count; ++s) {
    const Stage& stage = algorithm.stages[s];
    const bool copies = is_wrapper(algorithm, stage);
    is_host_.push_back(stage.updates.empty() && !stage.loops.empty() && !copies);
    // A copy of an input pays where a reduction comes back to it.
    is_placed_[s] = !algorithm.is_output(stage.name) && !readers_[s].empty() && (!copies || (!stage.loops.empty() && is_read_by_reductions(algorithm, readers_[s])));
    if (is_placed_[s]) placed_.push_back(s);
  }
}

std::shared_ptr<const Fusion> Fusion::declare(Space& space, const Algorithm& algorithm, const FusionOptions& options) {
  const std::shared_ptr<Fusion> fusion(new Fusion(algorithm));
  fusion->declare_all(space, options);
  return fusion;
}

void Fusion::declare_all(Space& space, const FusionOptions& options) {
  std::size_t with_knobs = 0;
  for (const std::size_t loop : options.vector_loops) vector_bits_.push_back(std::uint64_t{1} << (loop % 64));
  for (std::size_t s = algorithm_.stages.size(); s-- > 0;) {  // readers first
    if (algorithm_.is_output(algorithm_.stages[s].name)) declare_output(space, s);
    if (!is_placed_[s]) continue;
    std::vector<std::string> words = words_of(s, options);
    if (words.size() > 1 && with_knobs++ >= options.most) {
      const bool is_cheap = readers_[s].size() == 1 && readers_[s][0].loads == 1;
      words = {contains(words, "inline") && (is_cheap || is_wrapper(algorithm_, algorithm_.stages[s])) ? "inline" : "root"};
      if (words[0] == "root") is_host_[s] = false;
    }
    declare_place(space, s, words);
  }
}

bool Fusion::may_walk_columns(std::size_t host) const {
  if (!is_host_[host] || algorithm_.stages[host].loops.size() < 2) return false;
  // Something that only the vectors' loop asks for is then kept while the others run.
  return std::any_of(placed_.begin(), placed_.end(), [&](std::size_t s) {
    const Following* following = this->following(s, host);
    return following && following->all_touched() == vector_bits_[host];
  });
}

const Following* Fusion::following(std::size_t stage, std::size_t host) const {
  const auto found = followings_.find({stage, host});
  return found == followings_.end() ? nullptr : &found->second;
}

bool Fusion::has_placed_producer(std::size_t s) const {
  return std::any_of(placed_.begin(), placed_.end(), [&](std::size_t producer) {
    return std::any_of(readers_[producer].begin(), readers_[producer].end(), [&](const Reader& reader) { return reader.stage == s; });
  });
}

void Fusion::declare_output(Space& space, std::size_t s) {
  if (!is_host_[s]) return;
  const Code rows = encode({s, Walk::rows, NestLevel::tile}), columns = encode({s, Walk::columns, NestLevel::tile});
  if (!may_walk_columns(s)) {
    sites_[s] = {rows, std::nullopt};
    return;
  }
  const std::string suffix = algorithm_.outputs.size() > 1 ? knob_suffix(algorithm_.stages[s].name) : "";
  const WordKnob walk = space.words("walk" + suffix, {"rows", "columns"});
  walks_.insert_or_assign(s, walk);
  sites_[s].knob = space.derive("site" + knob_suffix(algorithm_.stages[s].name), {rows, columns}, {walk.index},
                                [=](const Point& p) { return p[walk] == "rows" ? rows : columns; });
}

// Whether the stage's region follows the loops around the place: else each of their iterations would compute it anew.
bool Fusion::allows(std::size_t s, const Site& site, const PlaceRule& rule) const {
  const Following* following = this->following(s, site.host);
  if (!following || rule.computed > site.level) return false;
  const bool is_flat = algorithm_.stages[site.host].loops.size() < 2;
  if (is_flat) return rule.computed != NestLevel::row && rule.stored != NestLevel::row && following->all_touched() != 0;
  const std::uint64_t column = vector_bits_[site.host];
  const bool by_columns = (following->all_touched() & column) != 0, by_rows = (following->all_touched() & ~column) != 0;
  const bool outer = site.walk == Walk::rows ? by_rows : by_columns, inner = site.walk == Walk::rows ? by_columns : by_rows;
  return outer && (inner || rule.computed != NestLevel::tile);
}

std::vector<std::string> Fusion::words_of(std::size_t s, const FusionOptions& options) const {
  const Stage& stage = algorithm_.stages[s];
  const bool is_pure = stage.updates.empty(), copies = is_wrapper(algorithm_, stage);
  const std::vector<Reader>& readers = readers_[s];
  std::vector<std::string> words;
  if (is_pure) words.emplace_back("inline");
  // Read once and point by point, it is computed where it is read, or apart from that.
  const bool is_trivial = is_pure && readers.size() == 1 && readers[0].loads == 1 && readers[0].is_pointwise;
  for (const PlaceRule& rule : kPlaceRules) {
    if (is_trivial || stage.loops.empty()) continue;
    if (rule.slides() && (!is_pure || copies)) continue;
    if (copies && rule.computed == NestLevel::tile) continue;
    if ((rule.computed == NestLevel::row || rule.stored == NestLevel::row) && options.row_bytes[s] > options.most_row_bytes) continue;
    bool somewhere = false;
    for (std::size_t host = s + 1; host < algorithm_.stages.size(); ++host) {
      // A window slides where what is read of the stage reaches over the edges of a tile.
      if (!is_host_[host] || (rule.slides() && (!following(s, host) || following(s, host)->is_pointwise))) continue;
      for (const Walk walk : {Walk::rows, Walk::columns}) {
        if (walk == Walk::columns && !may_walk_columns(host)) continue;
        somewhere = somewhere || allows(s, {host, walk, NestLevel::tile}, rule);
      }
    }
    if (somewhere) words.emplace_back(rule.word);
  }
  if (!is_pure && stage.loops.empty()) return {"root"};
  words.emplace_back("root");
  if (is_host_[s] && may_walk_columns(s)) words.emplace_back("columns");
  return words;
}

Fusion::Code Fusion::readers_site(std::size_t s, const Point* p) const {
  std::optional<Code> all;
  for (const Reader& reader : readers_[s]) {
    const auto source = sites_.find(reader.stage);
    const Code code = source == sites_.end() ? kNowhere : source->second.knob ? (*p)[*source->second.knob] : source->second.fixed;
    all = all ? meet(*all, code) : code;
  }
  return all.value_or(kNowhere);
}

Fusion::Code Fusion::site_code(std::size_t s, const std::string& place, Code readers) const {
  if (place == "inline") return readers;
  if (place == "root" || place == "columns") {
    return is_host_[s] ? encode({s, place == "root" ? Walk::rows : Walk::columns, NestLevel::tile}) : kNowhere;
  }
  auto site = decode(readers);
  if (!site) return kNowhere;
  site->level = std::min(site->level, find_place_rule(place)->computed);
  return encode(*site);
}

std::vector<std::int64_t> Fusion::codes_of(std::size_t s) const {
  std::set<std::int64_t> codes = {kNowhere};
  for (std::size_t host = s; host < algorithm_.stages.size(); ++host) {
    if (!is_host_[host] || (host != s && !following(s, host))) continue;
    for (const Walk walk : {Walk::rows, Walk::columns}) {
      for (const NestLevel level : {NestLevel::task, NestLevel::row, NestLevel::tile}) codes.insert(encode({host, walk, level}));
    }
  }
  return {codes.begin(), codes.end()};
}

std::vector<std::size_t> Fusion::sites_read(std::size_t s) const {
  std::vector<std::size_t> knobs;
  for (const Reader& reader : readers_[s]) {
    const auto source = sites_.find(reader.stage);
    if (source != sites_.end() && source->second.knob) knobs.push_back(source->second.knob->index);
  }
  return knobs;
}

void Fusion::declare_place(Space& space, std::size_t s, const std::vector<std::string>& words) {
  const std::string& name = algorithm_.stages[s].name;
  std::vector<std::size_t> reads = sites_read(s);
  if (words.size() == 1) {
    fixed_places_[s] = words[0];
  } else {
    const WordKnob place = space.words("place" + knob_suffix(name), words);
    places_.insert_or_assign(s, place);
    reads.insert(reads.begin(), place.index);
    space.require_over("a stage is computed in loops that enclose all its readers and that its region follows", reads, [self = shared_from_this(), s, place](const Point& p) {
      const PlaceRule* rule = find_place_rule(p[place]);
      if (!rule) return true;
      const auto site = decode(self->readers_site(s, &p));
      return site && self->allows(s, *site, *rule);
    });
  }
  if (algorithm_.stages[s].updates.empty()) declare_copies(space, s);
  if (!has_placed_producer(s)) return;
  if (reads.empty()) {
    sites_[s].fixed = site_code(s, fixed_places_.at(s), readers_site(s, nullptr));
    return;
  }
  sites_[s].knob = space.derive("site" + knob_suffix(name), codes_of(s), reads, [self = shared_from_this(), s](const Point& p) {
    return self->site_code(s, self->place(s, p), self->readers_site(s, &p));
  });
}

void Fusion::declare_copies(Space& space, std::size_t s) {
  std::int64_t most = 0;
  std::vector<std::pair<std::int64_t, std::optional<Knob>>> factors;
  std::vector<std::size_t> reads;
  for (const Reader& reader : readers_[s]) {
    const auto known = copies_.find(reader.stage);
    most += reader.loads * most_copies_[reader.stage];
    factors.emplace_back(reader.loads, known == copies_.end() ? std::nullopt : std::optional(known->second));
    if (known != copies_.end()) reads.push_back(known->second.index);
  }
  const std::string fixed = fixed_places_.contains(s) ? fixed_places_.at(s) : "";
  if (fixed != "" && fixed != "inline") return;  // as often as its readers ask
  most_copies_[s] = std::min(most, kMostCopies + 1);
  if (most <= 1) return;
  const auto place = places_.find(s);
  const std::optional<WordKnob> knob = place == places_.end() ? std::nullopt : std::optional(place->second);
  if (knob) reads.push_back(knob->index);
  const Knob copies = space.derive("copies" + knob_suffix(algorithm_.stages[s].name), range(1, kMostCopies + 1), reads, [=](const Point& p) {
    if (knob && p[*knob] != "inline") return std::int64_t{1};
    std::int64_t sum = 0;
    for (const auto& [loads, times] : factors) sum += loads * (times ? p[*times] : 1);
    return std::min(sum, kMostCopies + 1);
  });
  copies_.insert_or_assign(s, copies);
  if (most <= kMostCopies || !knob) return;
  space.require("an inlined stage must not be written out more than " + std::to_string(kMostCopies) + " times", [](std::int64_t c) { return c <= kMostCopies; }, copies);
}

std::string Fusion::place(std::size_t stage, const Point& p) const {
  const auto knob = places_.find(stage);
  return knob == places_.end() ? fixed_places_.at(stage) : p[knob->second];
}

std::optional<Site> Fusion::site(std::size_t stage, const Point& p) const {
  const std::string where = place(stage, p);
  if (where == "root" || where == "columns") return std::nullopt;
  return decode(site_code(stage, where, readers_site(stage, &p)));
}

Walk Fusion::walk(std::size_t host, const Point& p) const {
  if (const auto knob = walks_.find(host); knob != walks_.end()) return p[knob->second] == "rows" ? Walk::rows : Walk::columns;
  return is_placed_[host] && place(host, p) == "columns" ? Walk::columns : Walk::rows;
}

}  // namespace kiln::schedules
