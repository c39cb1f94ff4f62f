// Converting; see convert.h.
#include "convert/convert.h"

#include <algorithm>

#include "convert/surgery.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// A format that keeps float16 weights for float32 arithmetic, and has no float16 arithmetic.
bool halves_weights(const Format* format) { return format != nullptr && format->name == std::string("tflite"); }

Graph prepared(const Graph& source, const Format* format, const ConvertOptions& options) {
  Graph graph = source;
  const auto stale = [](const auto& entry) { return entry.first == kCertificateKey; };
  graph.metadata.erase(std::remove_if(graph.metadata.begin(), graph.metadata.end(), stale), graph.metadata.end());
  if (options.fold_batch_norms || options.dtype) infer_types(graph);
  if (options.fold_batch_norms) fold_batch_norms(graph);
  if (format != nullptr && *format->passes != 0) {
    infer_types(graph);
    PassOptions passes;
    passes.changes = std::string("only:") + format->passes;
    passes.keep_storage = true;
    run_passes(graph, passes);
  }
  if (!options.dtype || (options.dtype == DType::Float16 && halves_weights(format))) return graph;
  const std::vector<std::string> beyond = to_dtype(graph, *options.dtype, options.io_dtype);
  if (!beyond.empty() && options.warn)
    options.warn(cat("numbers beyond 65504, float16's largest, became that in ", join(beyond)));
  return graph;
}

}  // namespace

std::optional<Certificate> convert_model(const Graph& source, const std::string& path, const ConvertOptions& given) {
  const Format* format = format_for_path(path);
  ConvertOptions options = given;
  if (given.dtype == DType::Float16 && halves_weights(format)) {
    if (given.io_dtype != DType::Float32)
      fail_usage(path, ": ", format->name, " computes in float32, so do its inputs and outputs");
    options.write.float16_weights = true;
  }
  const double tolerance = given.tolerance.value_or(given.dtype == DType::Float16 ? kTolerance16 : kTolerance);
  Graph target = prepared(source, format, options);
  std::optional<Certificate> certificate;
  std::string without;  // why there is none
  if (source.outputs.empty() && format != nullptr && format->holds == Holds::Graph)
    fail_unsupported("the source holds weights and no graph, which ", format->name, " needs");
  if (options.certify && format != nullptr && format->holds == Holds::Graph) {
    try {  // the file as a reader sees it, from memory
      if (format->read == nullptr) fail_unsupported("what is written as ", format->name, " cannot be read here yet");
      ModelSource written = model_in_memory(path, format->to_files(target, options.write));
      const Graph back = format->read(written);
      written = {};
      certificate = certify(source, back, options.certificate);
    } catch (Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw error.within(path);
      without = error.what();
    }
  }
  if (certificate) {
    if (!(certificate->max_relative() <= tolerance) && !options.keep) {
      throw Error(ErrorKind::Negative,
                  cat(path, ": not written, above the tolerance of ", tolerance,
                      " (--tolerance allows more, --keep writes it all the same): ", certificate->text()));
    }
    target.metadata.emplace_back(kCertificateKey, certificate->json());
  }
  write_model(target, path, options.write);
  if (!without.empty() && options.warn) options.warn("no certificate: " + without);
  return certificate;
}

}  // namespace dnn
