// dnn-localize on two hostile traces, the first half of the bytes and the second, or one of them twice: only Malformed, Unsupported,
// Negative (nothing could be compared) and Usage (it holds several runs) may escape.
#include "fuzz/fuzz.h"
#include "localize/layer_statistics.h"
#include "localize/localize.h"
#include "localize/present.h"
#include "stream/stream.h"

DNN_FUZZ(traces) {
  using namespace dnn;
  const Bytes input = fuzz::as_input(data, size);
  const size_t half = size / 2;
  const bool twice = size % 3 == 0;
  MemorySource a(twice ? input : input.first(half)), b(twice ? input : input.subspan(half));
  return fuzz::refuse_or_accept([&] {
    stream::Reader source(a, "source"), target(b, "target");
    Localizer localizer(nullptr, nullptr);
    localizer.measure_statistics();
    localizer.rank_labels({});
    localizer.show_first({});
    try {
      compare_traces(source, target, &localizer);
      const LocalizeReport report = localizer.finish({});
      localize_json(report, {.source = "source", .target = "target"});
      localize_table(report, {.source = "source", .target = "target"});
      statistics_csv(report);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Negative && error.kind() != ErrorKind::Usage) throw;
    }
  });
}
