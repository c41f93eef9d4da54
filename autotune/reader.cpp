#include "autotune/reader.h"

#include <fmt/format.h>

#include "autotune/process/messages.h"
#include "dsl/error.h"

namespace kiln::autotune {

Reader::Reader(std::vector<std::string> libraries, Device device, ReaderLimits limits, Launch launch)
    : libraries_(std::move(libraries)), device_(std::move(device)), limits_(limits), launch_(std::move(launch)) {
  if (launch_.arguments.empty()) launch_.arguments = {"--role=reader"};
  launch_.address_space_bytes = limits_.address_space_bytes;
}

Reader::~Reader() {
  if (child_) child_->finish(std::chrono::milliseconds(200));
}

void Reader::start() {
  ++starts_;
  child_ = std::make_unique<Child>(launch_);
  try {
    for (const std::string& library : libraries_) ask("load", {{"library", library}}, fmt::format("loading {}", library));
  } catch (...) {
    child_.reset();  // a reader with half of its plugins would answer the next request
    throw;
  }
}

// `what` says what was being done, as in "reading generator `blur`".
Json Reader::ask(const std::string& kind, const Json& body, const std::string& what) {
  if (!child_) start();
  const Clock::time_point asked = Clock::now(), deadline = seconds_from_now(limits_.request_s);
  Json request = body;
  request["device"] = print(device_);
  child_->channel().send({++sequence_, kind, std::move(request)}, deadline);
  Channel::Received answer = child_->channel().receive(deadline);
  switch (answer.status) {
    case Channel::Status::timeout: fail(child_->kill_at_limit(limits_.request_s, seconds_since(asked)), what);
    case Channel::Status::closed: fail(child_->finish(std::chrono::seconds(1)), what);
    case Channel::Status::garbage: break;
    case Channel::Status::message:
      if (answer.message.sequence != sequence_) break;
      if (answer.message.kind == "error") throw_error(answer.message.body);
      return std::move(answer.message.body);
  }
  child_.reset();
  throw AlgorithmError(fmt::format("{}: plugin code wrote into the reader's own channel (file descriptor 3): {}", what,
                                   answer.status == Channel::Status::garbage ? answer.garbage : "an answer to another question"));
}

void Reader::fail(const Exit& exit, const std::string& what) {
  const std::string tail = tail_for_message(child_->log());
  child_.reset();
  throw AlgorithmError(fmt::format("{} ended its process: {}{}", what, exit.describe(), tail));
}

std::vector<std::string> Reader::generators() {
  return ask("generators", Json::object(), "listing the generators").at("names").get<std::vector<std::string>>();
}

OperatorSignature Reader::signature(const std::string& generator) {
  const Json answer = ask("signature", {{"generator", generator}}, fmt::format("asking generator `{}` for its parameters", generator));
  // A signature is an Algorithm without stages: it travels in that form.
  Algorithm parts = algorithm_from_json(answer.at("signature").get<std::string>());
  return {std::move(parts.generator), std::move(parts.default_params), std::move(parts.type_param),
          std::move(parts.arguments), std::move(parts.symbol_order),   std::move(parts.symbols)};
}

Algorithm Reader::read(const std::string& generator, const std::map<std::string, std::string>& params) {
  const Json answer = ask("read", {{"generator", generator}, {"params", params}}, fmt::format("reading generator `{}`", generator));
  return algorithm_from_json(answer.at("algorithm").get<std::string>());
}

// One search that the process holds, by its number there.
class PluginProposer : public Proposer {
 public:
  PluginProposer(Reader& reader, std::string generator, std::string space, int number)
      : reader_(reader), generator_(std::move(generator)), space_(std::move(space)), number_(number), start_(reader.starts_) {}

  const std::string& space() const override { return space_; }

  std::optional<Suggestion> propose() override {
    const Json answer = ask("propose", Json::object()).at("suggestion");
    if (answer.is_null()) return std::nullopt;
    try {
      return Suggestion{parse_schedule(answer.at("schedule").get<std::string>()), answer.at("point").get<std::string>(),
                        parse_phase(answer.at("phase").get<std::string>()).value_or(Phase::random)};
    } catch (const ScheduleError& error) {
      throw AlgorithmError(fmt::format("space `{}` of generator `{}` made a schedule that cannot be read, {}", space_, generator_, error.what()));
    }
  }

  void observe(const std::string& point, Outcome outcome) override { ask("observe", {{"point", point}, {"outcome", json_of(outcome)}}); }

  void resume(const std::vector<PastSuggestion>& past) override {
    Json trials = Json::array();
    for (const PastSuggestion& one : past) trials.push_back({{"point", one.point}, {"phase", print(one.phase)}, {"outcome", json_of(one.outcome)}});
    ask("resume", {{"trials", std::move(trials)}});
  }

 private:
  static Json json_of(Outcome outcome) { return outcome ? Json(*outcome) : Json(); }

  Json ask(const std::string& kind, Json body) {
    if (reader_.starts_ != start_ || !reader_.child_)
      throw AlgorithmError(fmt::format("the process that held space `{}` of generator `{}` has ended", space_, generator_));
    body["number"] = number_;
    return reader_.ask(kind, body, fmt::format("searching space `{}` of generator `{}`", space_, generator_));
  }

  Reader& reader_;
  std::string generator_, space_;
  int number_;
  int start_;
};

std::unique_ptr<Proposer> Reader::open_space(const Algorithm& algorithm, const Problem& problem, const SearchPlan& plan) {
  if (libraries_.empty()) return nullptr;  // only plugins bring spaces of their own
  const Json answer = ask("space",
                          {{"algorithm", to_json(algorithm)},
                           {"problem", to_json(problem)},
                           {"plan", {{"seed", plan.seed}, {"expected_trials", plan.expected_trials}, {"random_share", plan.random_share}}}},
                          fmt::format("asking generator `{}` for its space", algorithm.generator));
  if (answer.at("space").is_null()) return nullptr;
  return std::make_unique<PluginProposer>(*this, algorithm.generator, answer.at("space").get<std::string>(), answer.at("number").get<int>());
}

std::string Reader::log() const { return child_ ? child_->log() : ""; }

}  // namespace kiln::autotune
