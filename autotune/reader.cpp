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

std::string Reader::log() const { return child_ ? child_->log() : ""; }

}  // namespace kiln::autotune
