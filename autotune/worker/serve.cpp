#include "autotune/worker/serve.h"

#include "autotune/process/messages.h"
#include "dsl/error.h"

namespace kiln::autotune {

int serve(Channel& channel, const std::map<std::string, Handler>& handlers) {
  while (true) {
    const Channel::Received received = channel.receive(Clock::time_point::max());
    if (received.status == Channel::Status::closed) return 0;
    if (received.status != Channel::Status::message) return 1;
    const Message& request = received.message;
    const Answer answer(channel, request.sequence);
    try {
      const auto handler = handlers.find(request.kind);
      if (handler == handlers.end()) throw Error("this worker knows no request `" + request.kind + "`");
      handler->second(request.body, answer);
    } catch (const std::exception& error) {
      answer.send("error", error_to_json(error));
    }
  }
}

}  // namespace kiln::autotune
