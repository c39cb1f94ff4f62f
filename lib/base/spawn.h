// Starting a program and waiting for its end, as process.h and child.h do it.
#pragma once
#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace dnn {

// Starts argv[0] (looked up in PATH) with these file actions, in a process group of its own, so that kill(-child) ends its
// children too; the signals that tools ignore are as they are by default. Returns 0 and sets `child`, or an errno.
int start_process(const std::vector<std::string>& argv, const posix_spawn_file_actions_t& actions, pid_t& child);

// Waits for its end; its exit code, 128 + signal when one ended it.
int exit_code_of_process(pid_t child);

}  // namespace dnn
