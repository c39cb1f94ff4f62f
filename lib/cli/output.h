// Output: where a tool's result goes, a file that appears only when it is complete, or standard output.
#pragma once
#include <memory>
#include <string>

#include "base/file.h"
#include "base/io.h"

namespace dnn::cli {

class Output : public ByteSink {
 public:
  // `path` "-" is standard output; binary data is refused on a terminal (Usage).
  enum class Content { Text, Binary };
  Output(const std::string& path, Content content);
  void write(Bytes bytes) override;
  void write(std::string_view text) { write(as_bytes(text)); }
  // Puts the file in its place; without it nothing appears under its name.
  void commit();

 private:
  std::unique_ptr<AtomicFile> file_;
  FdSink standard_output_;
};

}  // namespace dnn::cli
