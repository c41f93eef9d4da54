// What all workers share: requests in, answers out, until the supervisor closes the socket.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "autotune/process/channel.h"

namespace kiln::autotune {

// Answers about one request. Every message carries the request's sequence number.
class Answer {
 public:
  Answer(Channel& channel, std::int64_t sequence) : channel_(channel), sequence_(sequence) {}
  void send(const std::string& kind, Json body) const { channel_.send({sequence_, kind, std::move(body)}); }

 private:
  Channel& channel_;
  std::int64_t sequence_;
};

using Handler = std::function<void(const Json& body, const Answer& answer)>;

// Calls the handler of each request's kind. An exception becomes the answer "error" with its class and text, and the worker goes on; a kind without
// a handler is one too. Returns the process's exit code: 0 when the socket was closed, 1 when garbage came over it.
int serve(Channel& channel, const std::map<std::string, Handler>& handlers);

// The roles, one file each.
int run_probe_role(Channel& channel);
int run_reader_role(Channel& channel);
int run_compile_role(Channel& channel);
int run_measure_role(Channel& channel);
int run_gpu_measure_role(Channel& channel);

}  // namespace kiln::autotune
