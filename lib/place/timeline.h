// Timelines: when the segments of a plan ran, as medians over runs, as a trace for Chrome and Perfetto, and as text.
#pragma once
#include <string>
#include <vector>

#include "place/executor.h"

namespace dnn::place {

// A number as printf writes it, within 47 characters.
std::string formatted(const char* format, double value);

struct SegmentReport {
  std::string name, part;
  bool merges = false;
  double us = 0, wait_us = 0;  // medians: how long it ran, and from when it could until it began
  SegmentTime last;            // of one run
};

struct RunReport {
  std::vector<SegmentReport> segments;
  int64_t merges = 0, copies = 0, copied_bytes = 0;
  double merge_us = 0;  // medians of the merging segments together
  double handoff_us =
      0;  // median over the runs: time in which parts waited although they were free and their inputs there
  double latency_us = 0;  // median, from the first segment's beginning to the last one's end
};

// Medians over runs, each the times of all segments; there is one at least.
RunReport report_runs(const ParallelSession& session, const std::vector<std::vector<SegmentTime>>& runs);

struct Timeline {
  std::string name;  // of the network
  std::vector<SegmentReport> segments;
};

// Chrome's trace events: a process for each timeline, a thread for each part, the last run of each segment.
std::string timeline_json(const std::vector<Timeline>& timelines);

// For dnn-infer --profile: a line for each segment, each part's busy and idle time, copies and merges, and a picture of one run.
std::string profile_text(const RunReport& report);

}  // namespace dnn::place
