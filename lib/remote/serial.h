// Serial lines: bytes as they are (termios raw), no connection. Who begins to talk says so until the other side has answered, so that
// what an earlier client left on the line is no part of the talk.
#pragma once
#include <memory>
#include <string>

#include "base/transport.h"

namespace dnn::remote {

inline constexpr int kSerialBaud = 115200;
// After so many seconds of silence within a message a server takes it that the client has gone.
inline constexpr double kTalkSilence = 5;

// Its limits are for silence: they begin anew with all that comes or goes, as a line may take minutes for a message.
class SerialTransport : public Transport {
 public:
  // Opens the line and sets its speed. Throws Usage for a speed that no line has, Environment where it does not open, is no
  // terminal, or another process has it.
  SerialTransport(const std::string& path, int baud);

  void limit(double seconds, const std::string& set_by) override;
  size_t read(std::byte* to, size_t n) override;
  void write(Bytes bytes) override;
  std::string ending() override { return "hung up"; }
  // True where nobody holds the other end any more, as where an adapter was pulled out.
  bool hung_up() const;
  // Throws away what has come and nobody has read.
  void drop_input();

 private:
  std::unique_ptr<FdTransport> line_;
  double limit_s_ = 0;
  std::string set_by_;
};

// A talk begins: the client's part, which throws Environment where no dnn-serve answers, and the server's, which waits for a client.
void begin_talk(SerialTransport& line, const std::string& name);
void await_talk(ByteSource& line, ByteSink& answers);

}  // namespace dnn::remote
