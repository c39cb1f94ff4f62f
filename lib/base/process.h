// Running another program: an argument vector (never a shell), captured output, a time limit.
#pragma once
#include <string>
#include <vector>

namespace dnn {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal when one ended it
  std::string output;  // stdout and stderr together, at most 1 MiB
  bool timed_out = false;
};

// Runs argv[0] (looked up in PATH) and waits. The child gets no standard input and runs in `folder` ("": this one).
// Throws Environment when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, const std::string& folder, double time_limit_s);

}  // namespace dnn
