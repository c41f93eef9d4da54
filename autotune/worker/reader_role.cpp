// The reader: the only process in which plugin code runs.
#include "autotune/worker/serve.h"

#include <memory>
#include <vector>

#include "autotune/process/messages.h"
#include "autotune/search/proposer.h"

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/read_algorithm.h"
#include "dsl/registration.h"
#include "generators/host/host.h"

namespace kiln::autotune {
namespace {

// What a generator sees as its target. An algorithm is a host's also where its kernels are a GPU's: the reference runs there.
std::string target_of(const Json& body) {
  namespace host = generators::host;
  const Device device = parse_device(body.at("device").get<std::string>());
  return host::target_string(host::host_beside(device), host::Isa::native, Contract::bounded);
}

// The Algorithm without stages that a signature is.
Algorithm as_algorithm(OperatorSignature signature) {
  Algorithm algorithm;
  algorithm.generator = std::move(signature.name);
  algorithm.default_params = std::move(signature.default_params);
  algorithm.type_param = std::move(signature.type_param);
  algorithm.arguments = std::move(signature.arguments);
  algorithm.symbol_order = std::move(signature.symbol_order);
  algorithm.symbols = std::move(signature.symbols);
  return algorithm;
}

void answer_signature(const Json& body, const Answer& answer) {
  const auto generator = body.at("generator").get<std::string>();
  answer.send("signature", {{"signature", to_json(as_algorithm(signature_of(generator, target_of(body))))}});
}

void answer_read(const Json& body, const Answer& answer) {
  const auto generator = body.at("generator").get<std::string>();
  const auto params = body.at("params").get<std::map<std::string, std::string>>();
  answer.send("algorithm", {{"algorithm", to_json(read_algorithm(generator, params, target_of(body)))}});
}

// The searches of plugins' own spaces, by number.
class Searches {
 public:
  void open(const Json& body, const Answer& answer) {
    const Algorithm algorithm = algorithm_from_json(body.at("algorithm").get<std::string>());
    const SpaceFunction* make_space = registered_space(algorithm.generator);
    if (make_space == nullptr) return answer.send("space", {{"space", nullptr}});
    const Json& plan = body.at("plan");
    auto search = make_proposer(
        (*make_space)(algorithm, problem_from_json(body.at("problem")), parse_device(body.at("device").get<std::string>())),
        {plan.at("seed").get<std::uint64_t>(), plan.at("expected_trials").get<std::uint64_t>(), plan.at("random_share").get<double>()});
    answer.send("space", {{"space", search->space()}, {"number", searches_.size()}});
    searches_.push_back(std::move(search));
  }

  void propose(const Json& body, const Answer& answer) {
    const auto suggestion = of(body).propose();
    Json told;
    if (suggestion) told = {{"schedule", print(suggestion->schedule)}, {"point", suggestion->point}, {"phase", print(suggestion->phase)}};
    answer.send("suggestion", {{"suggestion", std::move(told)}});
  }

  void observe(const Json& body, const Answer& answer) {
    of(body).observe(body.at("point").get<std::string>(), outcome_of(body));
    answer.send("observed", Json::object());
  }

  void resume(const Json& body, const Answer& answer) {
    std::vector<PastSuggestion> past;
    for (const Json& trial : body.at("trials"))
      past.push_back({trial.at("point").get<std::string>(), parse_phase(trial.at("phase").get<std::string>()).value_or(Phase::random), outcome_of(trial)});
    of(body).resume(past);
    answer.send("resumed", Json::object());
  }

 private:
  Proposer& of(const Json& body) { return *searches_.at(body.at("number").get<std::size_t>()); }
  static Outcome outcome_of(const Json& body) {
    const Json& outcome = body.at("outcome");
    return outcome.is_null() ? Outcome() : outcome.get<double>();
  }

  std::vector<std::unique_ptr<Proposer>> searches_;
};

}  // namespace

int run_reader_role(Channel& channel) {
  Searches searches;
  return serve(channel, {{"load",
                          [](const Json& body, const Answer& answer) {
                            load_plugin(body.at("library").get<std::string>());
                            answer.send("loaded", Json::object());
                          }},
                         {"generators", [](const Json&, const Answer& answer) { answer.send("generators", {{"names", registered_generators()}}); }},
                         {"signature", answer_signature},
                         {"read", answer_read},
                         {"space", [&](const Json& body, const Answer& answer) { searches.open(body, answer); }},
                         {"propose", [&](const Json& body, const Answer& answer) { searches.propose(body, answer); }},
                         {"observe", [&](const Json& body, const Answer& answer) { searches.observe(body, answer); }},
                         {"resume", [&](const Json& body, const Answer& answer) { searches.resume(body, answer); }}});
}

}  // namespace kiln::autotune
