#include "autotune/work_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "autotune/process/objects.h"
#include "autotune/records.h"
#include "dsl/error.h"
#include "db/demand.h"

namespace kiln::autotune {
namespace {

class Resolver {
 public:
  Resolver(Reader& reader, db::Store& store) : reader_(reader), store_(store) {}

  // The algorithm that a problem text asks for, and the problem under it; both kept in the store.
  WorkItem resolve(const std::string& text) {
    const ProblemText written = parse_problem_text(text);
    const OperatorSignature& signature = this->signature(written.operator_name);
    const auto params = params_of(written, signature.default_params, signature.type_param);
    WorkItem item;
    item.algorithm = algorithm(written.operator_name, params);
    item.problem = kiln::resolve(written, *item.algorithm);
    item.algorithm_id = keep(store_, algorithm_row(*item.algorithm));
    item.problem_id = keep(store_, problem_row(item.problem, *item.algorithm, item.algorithm_id));
    return item;
  }

 private:
  const OperatorSignature& signature(const std::string& name) {
    const auto found = signatures_.find(name);
    return found != signatures_.end() ? found->second : signatures_.emplace(name, reader_.signature(name)).first->second;
  }

  std::shared_ptr<const Algorithm> algorithm(const std::string& name, const std::map<std::string, std::string>& params) {
    auto& read = algorithms_[{name, params}];
    if (!read) read = std::make_shared<const Algorithm>(reader_.read(name, params));
    return read;
  }

  Reader& reader_;
  db::Store& store_;
  std::map<std::string, OperatorSignature> signatures_;
  std::map<std::pair<std::string, std::map<std::string, std::string>>, std::shared_ptr<const Algorithm>> algorithms_;
};

void import_files(const TuneOptions& options, db::Store& store) {
  const double horizon_s = options.horizon_s > 0 ? options.horizon_s : db::kDefaultHorizon_s;
  for (const auto& file : options.demand_files) {
    const std::string text = read_whole(file);
    import_demand(store, db::parse_demand(text, file.string()), content_digest(text), horizon_s);
  }
}

// What to resolve, in words: the problems named, and what the demand holds for the operators named (all of it when none is).
std::vector<std::string> texts_of(const TuneOptions& options, db::Store& store) {
  std::vector<std::string> texts = options.problems;
  const std::set<std::string> named(options.operators.begin(), options.operators.end());
  const bool follow_demand = options.problems.empty() || !options.demand_files.empty();
  std::set<std::string> covered;
  for (const std::string& text : texts) covered.insert(parse_problem_text(text).operator_name);
  if (follow_demand) {
    for (const db::DemandTotal& total : demand_totals(store)) {
      const std::string name = parse_problem_text(total.written).operator_name;
      if (!named.empty() && !named.contains(name)) continue;
      texts.push_back(total.written);
      covered.insert(name);
    }
  }
  for (const std::string& name : options.operators)
    if (!covered.contains(name)) texts.push_back(name + "()");  // at its estimates
  return texts;
}

}  // namespace

std::vector<WorkItem> work_list(const TuneOptions& options, Reader& reader, db::Store& store) {
  import_files(options, store);
  Resolver resolver(reader, store);
  std::map<db::ProblemId, WorkItem> items;
  for (const std::string& text : texts_of(options, store)) {
    WorkItem item = resolver.resolve(text);
    if (options.shard.count > 1) {
      const Digest identity = digest(item.problem, digest(*item.algorithm));
      if (identity.bytes[0] % options.shard.count != options.shard.index) continue;
    }
    items.try_emplace(item.problem_id, item);
  }
  for (const std::string& written : unlinked_demand(store)) {
    const std::string name = parse_problem_text(written).operator_name;
    if (!options.operators.empty() && std::find(options.operators.begin(), options.operators.end(), name) == options.operators.end()) continue;
    link_demand(store, written, resolver.resolve(written).problem_id);
  }
  std::vector<WorkItem> list;
  const double horizon_s = options.horizon_s > 0 ? options.horizon_s : db::kDefaultHorizon_s;
  for (auto& [id, item] : items) {
    if (const auto total = demand_of(store, id)) item.calls = std::max(1.0, total->calls_per_s * horizon_s);
    list.push_back(std::move(item));
  }
  std::stable_sort(list.begin(), list.end(), [](const WorkItem& a, const WorkItem& b) { return a.calls > b.calls; });
  if (list.empty())
    throw UsageError(options.shard.count > 1 ? fmt::format("shard {}/{} holds none of the problems", options.shard.index, options.shard.count)
                                             : std::string("nothing to tune: name an operator, a --problem or a --demand file"));
  return list;
}

}  // namespace kiln::autotune
