// The log of a search: JSON lines, appended as they are measured, so that a search goes on where it was interrupted and
// compiles on a machine of the kind use what it found. A line is a trial (a kernel, a schedule, the time of one launch with
// it and with the default), a choice (what a finished search settled on) or a summary (docs/howto/tune.md).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "codegen/parameters.h"

namespace dnn::tune {

struct Record {
  bool choice = false;   // else a trial
  std::string cpu, isa;  // base/cpu.h; a time is worth something on the same only
  int opt = 3, threads = 1;
  std::string kernel, what;
  codegen::ScheduleParameters parameters;
  double latency_ns = 0, default_ns = 0;  // of one inference's launches of the kernel, the least of several
  double gflops = 0;
};

// The records of a log. A last line that was cut off is left out, as are lines of another version's parameters, and `warn`
// is told. Throws Malformed naming the line that is no record, Environment when there is no such file.
std::vector<Record> read_log(const std::string& path, const std::function<void(const std::string&)>& warn);

std::string to_line(const Record& record);

// A log open for appending: each line is written as a whole, behind what is there; a last line that was cut off goes, so
// that read_log() must have taken the file for a log before.
class Log {
 public:
  explicit Log(std::string path);  // "" keeps nothing; throws Environment when it cannot be written
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  void add(const std::string& line);

 private:
  std::string path_;
  int file_ = -1;
};

// For `isas` at level `opt` on the processor named `cpu`: of each kernel the last choice, or while there is none the fastest trial that
// gains something beyond noise.
codegen::Schedules schedules_of(const std::vector<Record>& records, const std::vector<std::string>& isas, int opt,
                                const std::string& cpu);

}  // namespace dnn::tune
