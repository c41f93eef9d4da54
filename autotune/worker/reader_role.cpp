// The reader: the only process in which plugin code runs.
#include "autotune/worker/serve.h"

#include <exception>

#include <fmt/format.h>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/error.h"
#include "dsl/read_algorithm.h"
#include "generators/host/host.h"

namespace kiln::autotune {
namespace {

std::string target_of(const Json& body) {
  using generators::host::Isa;
  return generators::host::target_string(parse_device(body.at("device").get<std::string>()), Isa::native, Contract::bounded);
}

// A plugin may throw anything at all, integers included. What dsl throws has its words already.
template <typename Work>
auto with_plugin_code(const std::string& generator, const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw AlgorithmError(fmt::format("generator `{}` threw while it was read: {}", generator, error.what()));
  } catch (...) {
    throw AlgorithmError(fmt::format("generator `{}` threw something that is no exception of the standard library", generator));
  }
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
  const Algorithm parts = with_plugin_code(generator, [&] { return as_algorithm(signature_of(generator, target_of(body))); });
  answer.send("signature", {{"signature", to_json(parts)}});
}

void answer_read(const Json& body, const Answer& answer) {
  const auto generator = body.at("generator").get<std::string>();
  const auto params = body.at("params").get<std::map<std::string, std::string>>();
  const Algorithm algorithm = with_plugin_code(generator, [&] { return read_algorithm(generator, params, target_of(body)); });
  answer.send("algorithm", {{"algorithm", to_json(algorithm)}});
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
