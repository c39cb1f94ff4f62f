// Output; see output.h.
#include "cli/output.h"

#include <unistd.h>

namespace dnn::cli {

Output::Output(const std::string& path, Content content) : standard_output_(STDOUT_FILENO, "standard output") {
  if (path != "-") {
    file_ = std::make_unique<AtomicFile>(path);
  } else if (content == Content::Binary && ::isatty(STDOUT_FILENO) != 0) {
    fail_usage("the result is binary and would go to the terminal: pipe to dnn-cat, redirect, or use -o");
  }
}

void Output::write(Bytes bytes) {
  if (file_) {
    file_->write(bytes);
  } else {
    standard_output_.write(bytes);
  }
}

void Output::commit() {
  if (file_) file_->commit();
}

}  // namespace dnn::cli
