// JSON lines over a socket, with sequence numbers: what supervisor and workers speak on fd 3.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace kiln::autotune {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

// `sequence` is given by who asks; every answer to it carries the same number. `kind` is the word that says what `body` holds.
struct Message {
  std::int64_t sequence = 0;
  std::string kind;
  Json body = Json::object();
};

// One end. Owns the file descriptor. Bytes that are not a message are kept apart: they never end the process that reads them.
class Channel {
 public:
  // A longer line is garbage: an Algorithm with its serialized pipelines is far below a megabyte.
  static constexpr std::size_t kLineLimit = std::size_t{64} << 20;

  enum class Status { message, timeout, closed, garbage };
  struct Received {
    Status status = Status::closed;
    Message message;      // status message
    std::string garbage;  // status garbage: the start of what arrived, at most 200 bytes, unprintable ones escaped
  };

  explicit Channel(int fd) : fd_(fd) {}
  ~Channel() { close(); }
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

  // False when the other end is gone or did not take the bytes in time. Never raises SIGPIPE.
  bool send(const Message& message, Clock::time_point deadline);
  // For workers, which have nothing better to do than to wait.
  bool send(const Message& message) { return send(message, Clock::time_point::max()); }

  // Waits for one line. What has already arrived is returned even when the deadline has passed or the other end is gone.
  Received receive(Clock::time_point deadline);

 private:
  bool take_line(std::string& line);
  int fd_ = -1;
  std::string buffer_;
  std::size_t searched_ = 0;  // no newline before this position of buffer_
};

// poll() wants milliseconds: rounded up, -1 for never, 0 for a deadline that has passed.
int milliseconds_until(Clock::time_point deadline);

}  // namespace kiln::autotune
