#include "autotune/process/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace kiln::autotune {
namespace {

std::string show_garbage(std::string_view bytes) {
  constexpr std::size_t kShown = 200;
  std::string shown;
  for (const char c : bytes.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      shown += c;
    else
      shown += fmt::format("\\x{:02x}", byte);
  }
  if (bytes.size() > kShown) shown += "…";
  return shown;
}

std::optional<Message> parse_line(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto sequence = json.find("seq"), kind = json.find("kind"), body = json.find("body");
  if (sequence == json.end() || !sequence->is_number_integer() || kind == json.end() || !kind->is_string() || body == json.end() || !body->is_object())
    return std::nullopt;
  return Message{sequence->get<std::int64_t>(), kind->get<std::string>(), *body};
}

}  // namespace

int milliseconds_until(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return -1;
  const auto left = deadline - Clock::now();
  if (left <= Clock::duration::zero()) return 0;
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<std::int64_t>(milliseconds, 3'600'000));  // an hour: the callers loop
}

Channel::Channel(Channel&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)), searched_(std::exchange(other.searched_, 0)) {}

void Channel::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Channel::send(const Message& message, Clock::time_point deadline) {
  if (!is_open()) return false;
  // Logs of compilers may hold bytes that are not UTF-8: they are replaced, never thrown about.
  std::string line = Json{{"seq", message.sequence}, {"kind", message.kind}, {"body", message.body}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) return false;
    pollfd waiting{fd_, POLLOUT, 0};
    if (::poll(&waiting, 1, milliseconds_until(deadline)) == 0 && Clock::now() >= deadline) return false;
  }
  return true;
}

bool Channel::take_line(std::string& line) {
  const std::size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    return false;
  }
  line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  searched_ = 0;
  return true;
}

Channel::Received Channel::receive(Clock::time_point deadline) {
  while (true) {
    std::string line;
    if (take_line(line)) {
      if (std::optional<Message> message = parse_line(line)) return {Status::message, std::move(*message), {}};
      return {Status::garbage, {}, show_garbage(line)};
    }
    if (buffer_.size() > kLineLimit) {
      Received received{Status::garbage, {}, show_garbage(buffer_)};
      buffer_.clear();
      searched_ = 0;
      return received;
    }
    if (!is_open()) return {Status::closed, {}, {}};
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, milliseconds_until(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if (Clock::now() >= deadline) return {Status::timeout, {}, {}};
      continue;
    }
    char chunk[65536];
    const ssize_t got = ::recv(fd_, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got > 0)
      buffer_.append(chunk, static_cast<std::size_t>(got));
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
      close();
  }
}

}  // namespace kiln::autotune
