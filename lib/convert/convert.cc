// Converting; see convert.h.
#include "convert/convert.h"

#include <algorithm>

#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

Graph prepared(const Graph& source, const Format* format) {
  Graph graph = source;
  const auto stale = [](const auto& entry) { return entry.first == kCertificateKey; };
  graph.metadata.erase(std::remove_if(graph.metadata.begin(), graph.metadata.end(), stale), graph.metadata.end());
  if (format == nullptr || *format->passes == 0) return graph;
  infer_types(graph);
  PassOptions passes;
  passes.changes = std::string("only:") + format->passes;
  run_passes(graph, passes);
  return graph;
}

}  // namespace

std::optional<Certificate> convert_model(const Graph& source, const std::string& path, const ConvertOptions& options) {
  const Format* format = format_for_path(path);
  Graph target = prepared(source, format);
  std::optional<Certificate> certificate;
  std::string without;  // why there is none
  if (source.outputs.empty() && format != nullptr && format->holds == Holds::Graph)
    fail_unsupported("the source holds weights and no graph, which ", format->name, " needs");
  if (options.certify && format != nullptr && format->holds == Holds::Graph) {
    try {  // the file as a reader sees it, from memory
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
    if (!(certificate->max_relative() <= options.tolerance) && !options.keep) {
      throw Error(ErrorKind::Negative,
                  cat(path, ": not written, above the tolerance of ", options.tolerance,
                      " (--tolerance allows more, --keep writes it all the same): ", certificate->text()));
    }
    target.metadata.emplace_back(kCertificateKey, certificate->json());
  }
  write_model(target, path, options.write);
  if (!without.empty() && options.warn) options.warn("no certificate: " + without);
  return certificate;
}

}  // namespace dnn
