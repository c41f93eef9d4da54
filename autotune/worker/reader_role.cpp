// The reader: the only process in which plugin code runs.
#include "autotune/worker/serve.h"

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/read_algorithm.h"
#include "generators/host/host.h"

namespace kiln::autotune {
namespace {

std::string target_of(const Json& body) {
  using generators::host::Isa;
  return generators::host::target_string(parse_device(body.at("device").get<std::string>()), Isa::native, Contract::bounded);
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

}  // namespace

int run_reader_role(Channel& channel) {
  return serve(channel, {{"load",
                          [](const Json& body, const Answer& answer) {
                            load_plugin(body.at("library").get<std::string>());
                            answer.send("loaded", Json::object());
                          }},
                         {"generators", [](const Json&, const Answer& answer) { answer.send("generators", {{"names", registered_generators()}}); }},
                         {"signature", answer_signature},
                         {"read", answer_read}});
}

}  // namespace kiln::autotune
