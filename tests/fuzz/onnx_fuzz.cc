// The ONNX reader on hostile bytes: parse, upgrade, verify, and infer the types of what is accepted.
#include "formats/format.h"
#include "formats/onnx/onnx.h"
#include "fuzz/fuzz.h"
#include "ops/op.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return dnn::fuzz::refuse_or_accept([&] {
    dnn::ModelSource source;
    source.path = "-";
    source.bytes = dnn::fuzz::as_input(data, size);
    dnn::onnx::sniff(source);
    dnn::Graph graph = dnn::onnx::read(source);
    dnn::infer_types(graph);
  });
}
