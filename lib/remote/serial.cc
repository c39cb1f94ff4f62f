// Serial lines; see serial.h.
#include "remote/serial.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"

namespace dnn::remote {
namespace {

constexpr std::pair<int, speed_t> kSpeeds[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},     {115200, B115200},
    {230400, B230400},   {460800, B460800},   {500000, B500000},   {576000, B576000},   {921600, B921600},
    {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000}, {4000000, B4000000}};

speed_t speed_of(int baud) {
  std::vector<std::string> known;
  for (const auto& [number, speed] : kSpeeds) {
    if (number == baud) return speed;
    known.push_back(std::to_string(number));
  }
  fail_usage("a serial line of ", baud, " baud: choose from ", join(known));
}

// As many bytes as a frame's head, so that a server that is still in an earlier talk reads one, and sees that it is none.
constexpr std::string_view kCall = "DNS?", kAnswer = "DNS!";
constexpr size_t kCallNonceBytes = 14, kCallBytes = 4 + 2 * kCallNonceBytes;

// Finds calls among other bytes: a line that is being set up gives noise, and an earlier talk its rest.
class Calls {
 public:
  explicit Calls(std::string_view mark) : mark_(mark) {}
  // The nonce of a call that ends with this byte; "" where none does.
  std::string take(std::byte next) {
    if (last_.size() == kCallBytes) last_.erase(0, 1);
    last_ += static_cast<char>(next);
    const bool hex = std::all_of(last_.begin() + static_cast<std::ptrdiff_t>(std::min(last_.size(), mark_.size())),
                                 last_.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    return last_.size() == kCallBytes && hex && starts_with(last_, mark_) ? last_.substr(mark_.size()) : "";
  }

 private:
  const std::string_view mark_;
  std::string last_;
};

std::byte next_byte(ByteSource& line) {
  std::byte one{};
  if (line.read(&one, 1) == 0) fail_environment("the line is hung up");
  return one;
}

}  // namespace

SerialTransport::SerialTransport(const std::string& path, int baud) {
  const speed_t speed = speed_of(baud);
  const int fd = ::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) fail_environment(path, ": cannot open: ", std::strerror(errno));
  const int out = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (out < 0) {
    ::close(fd);
    fail_environment(path, ": cannot open: ", std::strerror(errno));
  }
  line_ = std::make_unique<FdTransport>(fd, out, path, true);
  termios settings{};
  if (::tcgetattr(fd, &settings) != 0) fail_environment(path, ": is no serial line");
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) fail_environment(path, ": another process uses this line");
  ::cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(HUPCL | CSTOPB | CRTSCTS);  // a line that drops restarts some boards
  ::cfsetispeed(&settings, speed);
  ::cfsetospeed(&settings, speed);
  if (::tcsetattr(fd, TCSANOW, &settings) != 0)
    fail_environment(path, ": cannot be set to ", baud, " baud: ", std::strerror(errno));
}

void SerialTransport::limit(double seconds, const std::string& set_by) {
  limit_s_ = seconds;
  set_by_ = set_by;
  line_->limit(seconds, set_by);
}

size_t SerialTransport::read(std::byte* to, size_t n) {
  const size_t got = line_->read(to, n);
  line_->limit(limit_s_, set_by_);
  return got;
}

void SerialTransport::write(Bytes bytes) {
  constexpr size_t kAtOnce = 1024;
  while (!bytes.empty()) {
    const Bytes part = bytes.first(std::min(kAtOnce, bytes.size()));
    line_->write(part);
    line_->limit(limit_s_, set_by_);
    bytes = bytes.subspan(part.size());
  }
}

bool SerialTransport::hung_up() const {
  pollfd state{line_->in(), 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

void SerialTransport::drop_input() { ::tcflush(line_->in(), TCIFLUSH); }

void begin_talk(SerialTransport& line, const std::string& name) {
  std::array<std::byte, kCallNonceBytes> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) fail_environment("no random bytes for a nonce");
  const std::string nonce = hex_text(bytes);
  const std::string call = std::string(kCall) + nonce;
  line.drop_input();
  // A server within a message of an earlier client gives that up after some seconds of silence, and takes the next call.
  using Clock = std::chrono::steady_clock;
  double all_s = 0;
  for (const double wait_s : {0.3, 0.7, 1.0, 2 * kTalkSilence, 1.0, 2.0}) {
    all_s += wait_s;
    const Clock::time_point until = moment_in(wait_s);
    Calls answers(kAnswer);
    line.limit(wait_s, "a call");
    try {
      line.write(as_bytes(call));
      while (Clock::now() < until) {
        if (answers.take(next_byte(line)) == nonce) return;
        line.limit(std::chrono::duration<double>(until - Clock::now()).count(), "a call");
      }
    } catch (const Error&) {
      if (line.hung_up()) fail_environment(name, ": the line is hung up");
    }
  }
  fail_environment(name, ": no answer within ", all_s,
                   " s (is dnn-serve --serial running at the other end, at this speed?)");
}

void await_talk(ByteSource& line, ByteSink& answers) {
  Calls calls(kCall);
  std::string nonce;
  while (nonce.empty()) nonce = calls.take(next_byte(line));
  answers.write(as_bytes(std::string(kAnswer) + nonce));
}

}  // namespace dnn::remote
