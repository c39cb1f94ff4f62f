// Any file of the tools for people and programs: streams, packages and models as text or JSON lines.
#pragma once
#include <optional>
#include <string>

#include "base/error.h"
#include "base/io.h"

namespace dnn {

struct ShowOptions {
  bool text = false;     // of streams and packages: readable text, not JSON lines
  bool weights = false;  // of models: every constant
  bool types = false;    // of models: the values' types, inferred
};

// Shows the file at `path` ("-": standard input), whose content tells what it is. Returns the error to end with where a stream was cut off,
// after everything that arrived was shown. Throws what reading throws; Usage for a package in a pipe; Malformed for other files.
std::optional<Error> show_file(const std::string& path, const ShowOptions& options, ByteSink& to);

}  // namespace dnn
