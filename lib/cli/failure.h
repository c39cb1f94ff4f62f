// Failures on standard error, as a tool reports them at its end.
#pragma once
#include "cli/cli.h"

namespace dnn::cli {

// Within a catch: says the exception in one line on stderr, and returns its exit code.
int say_failure(const Tool& tool);

}  // namespace dnn::cli
