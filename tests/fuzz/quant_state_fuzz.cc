// Calibration states on hostile bytes: only Malformed may escape, and what is taken is written and read again alike.
#include "quant/state.h"

#include "fuzz/fuzz.h"

DNN_FUZZ(quant_state) {
  using namespace dnn;
  return dnn::fuzz::refuse_or_accept([&] {
    const quant::State state = quant::parse_state(as_text(dnn::fuzz::as_input(data, size)));
    const std::string written = quant::state_json(state);
    if (quant::state_json(quant::parse_state(written)) != written) __builtin_trap();
  });
}
