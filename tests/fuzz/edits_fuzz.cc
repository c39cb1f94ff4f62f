// Edits and alignments of hostile bytes: what is read writes and reads back the same, and is made on a small network or refused.
#include "localize/edits.h"

#include <cstdlib>

#include "fuzz/fuzz.h"
#include "localize/alignment_text.h"
#include "ops/op.h"

namespace {

const char* const kEdited = R"(graph "net" {
  opset 28
  input x: float32[1,3,5,5]
  const w: float32[4,3,3,3] = random(1)
  const q: int8[4] = {1, 2, 3, 4}
  const s: float32[] = {0.5}
  const scale: float32[4] = {1, 2, 0.5, 1.5}
  const shift: float32[4] = {0.5, -1, 0.25, 2}
  const mean: float32[4] = {0.1, 0.2, 0.3, 0.4}
  const variance: float32[4] = {1.5, 0.5, 2, 1}
  b = DequantizeLinear(q, s) @bias
  c = Conv(x, w, b) @conv {pads = [1, 1, 1, 1]}
  n = BatchNormalization(c, scale, shift, mean, variance) @bn
  r = Relu(n) @relu
  f = Flatten(r) @flat
  y = Softmax(f) @scores
  output y
})";

}  // namespace

DNN_FUZZ(edits) {
  using namespace dnn;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::refuse_or_accept([&] { parse_alignment(text, "fuzz"); });
  return fuzz::refuse_or_accept([&] {
    const std::vector<Edit> edits = parse_edits(text, "fuzz");
    if (parse_edits(edits_json(edits), "again") != edits) std::abort();
    for (const Edit& edit : edits) edit_text(edit);
    Graph source = parse_graph(kEdited);
    infer_types(source);
    Graph target = source;
    EditSource from(source);
    try {
      apply_edits(edits, from, target);
      infer_types(target);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Usage) throw;  // names that these two have not
    }
  });
}
