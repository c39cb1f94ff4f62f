// The table of schedule parameters; see parameters.h.
#include "codegen/parameters.h"

#include "base/error.h"

namespace dnn::codegen {

const std::vector<ScheduleParameter>& schedule_parameters() {
  using P = ScheduleParameters;
  static const std::vector<ScheduleParameter> table = {
      {"tile", &P::tile, {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28}},
      {"across", &P::across, {0, 1, 2, 3, 4}},
      {"chunk_kib", &P::chunk_kib, {20, 0, 6, 10, 14, 28, 40}},
      {"chunk_positions", &P::chunk_positions, {150, 40, 80, 300, 600}},
      {"outer", &P::outer, {0, 1, 2}},
      {"fetch_ahead", &P::fetch_ahead, {1, 0}},
  };
  return table;
}

std::string to_text(const ScheduleParameters& parameters) {
  std::string text;
  for (const ScheduleParameter& p : schedule_parameters()) {
    if (parameters.*p.field != p.values[0]) text += cat(text.empty() ? "" : " ", p.name, "=", parameters.*p.field);
  }
  return text;
}

}  // namespace dnn::codegen
