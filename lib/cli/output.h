// Output: where a tool's result goes, a file that appears only when it is complete, or standard output.
//
// Text on standard output passes VisibleSink, as do messages (console.h): a name out of a file cannot steer a terminal.
#pragma once
#include <memory>
#include <string>

#include "base/file.h"
#include "base/io.h"

namespace dnn::cli {

// Hands text on with each unseen character (base/printable.h) but \n and \t written \uNNNN, and each byte that is not UTF-8
// written \xNN. JSON means the same afterwards: within its strings \uNNNN is that character. A line that begins as a command to
// a CI service (::error::, ##[error], ##vso[...]) gets \x3a or \x23 for its first character. Other text stays as it is.
class VisibleSink : public ByteSink {
 public:
  explicit VisibleSink(ByteSink& to) : to_(to) {}
  void write(Bytes bytes) override;
  // What was held back.
  void finish();

 private:
  void put(std::string_view text, bool last);

  ByteSink& to_;
  std::string begun_;          // the first bytes of a character or command whose others are still to come
  bool at_line_start_ = true;  // but for blanks
};

class Output : public ByteSink {
 public:
  // `path` "-" is standard output; binary data is refused on a terminal (Usage).
  enum class Content { Text, Binary };
  Output(const std::string& path, Content content);
  void write(Bytes bytes) override;
  void write(std::string_view text) { write(as_bytes(text)); }
  // Puts the file in its place, and says so on a terminal (say_wrote); without it nothing appears under its name.
  void commit();

 private:
  const bool text_;
  const std::string path_;
  std::unique_ptr<AtomicFile> file_;
  FdSink standard_output_;
  VisibleSink visible_;
};

// One file of text, or all that goes to standard output.
void write_text(const std::string& path, std::string_view text);

}  // namespace dnn::cli
