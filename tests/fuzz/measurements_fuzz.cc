// Kenning's measurements from hostile bytes: only Malformed and Unsupported may escape, and what is taken is a whole run.
#include "fuzz/fuzz.h"
#include "report/legacy.h"

DNN_FUZZ(measurements) {
  using namespace dnn;
  const std::string text(as_text(dnn::fuzz::as_input(data, size)));
  return dnn::fuzz::refuse_or_accept([&] {
    if (!report::is_measurements(text)) return;

    metrics::Evaluation evaluation;
    for (stream::Record& record : report::records_of_measurements(text, "fuzz")) evaluation.add(std::move(record));
    if (evaluation.finish().runs.empty()) __builtin_trap();
  });
}
