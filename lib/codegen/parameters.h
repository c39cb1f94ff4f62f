// What a schedule leaves open: the sizes of its tiles and chunks. Every choice computes the same bits, so that a search
// (tune/) may try them all; what is not chosen is the schedule's own estimate.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dnn::codegen {

struct ScheduleParameters {
  // Columns, or rows of a matrix, of a register tile; of a GPU's block columns. 0: by the schedule's cost model.
  int64_t tile = 0;
  int64_t across = 0;      // blocks side by side in a register tile, of a GPU's block rows; 0: as many as it finds good
  int64_t chunk_kib = 20;  // of the first cache for the weights of a chunk of the reduction; 0: no chunks
  int64_t chunk_positions = 150;  // positions of the output to use such a chunk for, at least
  int64_t outer = 0;              // outermost are 1: channels, 2: rows of the output, 0: whichever reads less anew
  int64_t fetch_ahead = 1;        // 1: the next chunk's weights are asked for ahead of time, and an image's next rows

  bool operator==(const ScheduleParameters&) const = default;
};

struct ScheduleParameter {
  const char* name;
  int64_t ScheduleParameters::*field;
  std::vector<int64_t> values;  // worth a trial; the default first
};

// All of them, in the order of the struct.
const std::vector<ScheduleParameter>& schedule_parameters();

// By instruction set ("" where a target has none) and kernel, whose name says what it computes and nothing of how.
using Schedules = std::map<std::string, std::map<std::string, ScheduleParameters>>;

// "tile=7 chunk_kib=28": what differs from the defaults; "" when nothing does.
std::string to_text(const ScheduleParameters& parameters);

}  // namespace dnn::codegen
