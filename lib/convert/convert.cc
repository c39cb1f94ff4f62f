// Converting; see convert.h.
#include "convert/convert.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/mappings.h"
#include "base/memory_limit.h"
#include "convert/surgery.h"
#include "devices/activations.h"
#include "graph/locate.h"
#include "ops/op.h"
#include "ops/training.h"
#include "ops/underflow.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// A format that keeps float16 weights for float32 arithmetic, and has no float16 arithmetic.
bool halves_weights(const Format* format) { return format != nullptr && format->float16 == Float16::WeightsOnly; }

// What passes replaced need not stay in memory.
void forget_unread_constants(Graph& graph) {
  const Uses uses(graph);
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (uses.readers[v].empty() && !graph.is_output(v)) graph.value(v).constant.reset();
  }
}

// True for a format of ONNX's own operators, which lacks internal ones alone.
bool holds_all_operators(const Format& format) {
  return std::string_view(format.passes) == "expand-dynamic-quantization";
}

// No format but ONNX has networks that compute as in training.
void refuse_training(const Graph& graph, const Format& format) {
  for (NodeId id : graph.order()) {
    if (in_training(graph, graph.node(id)))
      fail_unsupported(label_in(graph, graph.node(id)), " computes as in training, and a file of ", format.name,
                       " would compute as in inference; export the network in inference mode");
  }
}

// Results that an operator need not give and nobody reads: formats without them can hold the operator.
void forget_unread_results(Graph& graph) {
  constexpr std::string_view kMayGiveLess[] = {"MaxPool", "Dropout", "LayerNormalization", "BatchNormalization"};
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (!node.domain.empty() ||
        std::find(std::begin(kMayGiveLess), std::end(kMayGiveLess), node.op) == std::end(kMayGiveLess))
      continue;
    const auto unread = [&](ValueId v) { return v == kNoValue || (uses.readers[v].empty() && !graph.is_output(v)); };
    while (node.outputs.size() > 1 && unread(node.outputs.back())) node.outputs.pop_back();
  }
}

// Passes that the format asks for, where they find anything: a format of ONNX's own operators needs them for internal ones alone, and
// a graph that is not valid stays as it is there.
std::string passes_for(const Graph& graph, const Format* format) {
  if (format == nullptr) return "";
  const std::vector<NodeId>& order = graph.order();
  const bool internal =
      std::any_of(order.begin(), order.end(), [&](NodeId id) { return graph.node(id).domain == kInternalDomain; });
  return internal || !holds_all_operators(*format) ? format->passes : "";
}

Graph prepared(Graph graph, const Format* format, const ConvertOptions& options) {
  const auto stale = [](const auto& entry) { return entry.first == kCertificateKey; };
  graph.metadata.erase(std::remove_if(graph.metadata.begin(), graph.metadata.end(), stale), graph.metadata.end());
  if (options.fold_batch_norms || options.dtype) infer_types(graph);
  if (options.fold_batch_norms) fold_batch_norms(graph);
  if (const std::string asked = passes_for(graph, format); !asked.empty()) {
    if (!holds_all_operators(*format)) {
      refuse_training(graph, *format);
      forget_unread_results(graph);
    }
    infer_types(graph);
    PassOptions passes;
    passes.changes = "only:" + asked;
    passes.keep_storage = true;
    for (const PassLog& log : run_passes(graph, passes)) {
      if (log.name == "expand-quantization" && log.patches > 0 && options.warn)
        options.warn(
            cat(format->name,
                " has no quantised operators nor weights of 16 bits: the same numbers are computed in float32"));
    }
    if (format->holds == Holds::Graph) forget_unread_constants(graph);
  }
  if (!options.dtype) return graph;
  if (options.warn && options.dtype == DType::Float16) {
    if (const std::string lost = underflow_text(float16_underflow(graph)); !lost.empty()) options.warn(lost);
  }
  const bool weights_alone = options.dtype == DType::Float16 && halves_weights(format);
  const std::vector<std::string> beyond =
      weights_alone ? limit_float16_weights(graph) : to_dtype(graph, *options.dtype, options.io_dtype);
  if (!beyond.empty() && options.warn)
    options.warn(cat("numbers beyond 65504, float16's largest, became that in ", join(beyond)));
  return graph;
}

// Where that cannot be done, the reason is told, and the certificate says what it said.
void look_for_ties(const Yardstick& yardstick, const Graph& source, Graph target, uint64_t memory,
                   Certificate* certificate) {
  try {
    within_memory(memory, [&] { yardstick.look_for_ties(source, std::move(target), certificate); });
  } catch (const Error& error) {
    certificate->ties.emplace();
    certificate->ties->why_not = error.what();
  }
}

// What options.judge says of the file, which is written aside for it.
Certificate judged(const Graph& target, const std::string& path, const ConvertOptions& options,
                   const Yardstick& yardstick, double tolerance) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  std::string name = std::filesystem::path(path).filename().string();
  if (name.empty()) name = "model/";
  const std::string written = folder.path() + "/" + name;
  write_model(target, written, options.write);
  Certificate certificate;
  try {
    certificate = options.judge(yardstick, written);
  } catch (Error& error) {
    throw error.within(path);
  }
  if (certificate.within(tolerance)) return certificate;
  Graph typed = target;
  infer_types(typed);
  if (computes_on_integers(typed)) {
    certificate.ties.emplace();
    certificate.ties->why_not = "a framework does not show what it rounds";
  }
  return certificate;
}

}  // namespace

std::optional<Certificate> convert_model(Graph source, const std::string& path, const ConvertOptions& given) {
  const Format* format = format_for_path(path);
  ConvertOptions options = given;
  options.write.file_name = std::filesystem::path(path).filename().string();
  if (given.dtype == DType::Float16 && halves_weights(format)) {
    if (given.io_dtype != DType::Float32)
      fail_usage(path, ": ", format->name, " computes in float32, so do its inputs and outputs");
    options.write.float16_weights = true;
  }
  const double tolerance = given.tolerance.value_or(given.dtype == DType::Float16 ? kTolerance16 : kTolerance);
  const bool whole = format != nullptr && format->holds == Holds::Graph;
  if (source.outputs.empty() && whole)
    fail_unsupported("the source holds weights and no graph, which ", format->name, " needs");
  std::optional<Yardstick> yardstick;
  std::string without;  // why there is no certificate
  const auto excuse = [&](Error& error) {
    if (error.kind() != ErrorKind::Unsupported) throw error.within(path);
    without = error.what();
  };
  if ((options.certify || options.judge) && whole && format->to_files != nullptr) {
    try {
      within_memory(most_activations(source), [&] { yardstick.emplace(source, options.certificate); });
    } catch (Error& error) {
      excuse(error);
    }
  }
  std::optional<Graph> target = prepared(source, format, options);
  std::optional<Certificate> certificate;
  if (yardstick && options.certify) {
    try {  // the file as a reader sees it
      if (format->read == nullptr) fail_unsupported("what is written as ", format->name, " cannot be read here yet");
      ModelSource written = model_on_disk(path, format->to_files(*target, options.write));
      target.reset();  // constants that passes made are as large as the model
      Graph back = format->read(written);
      written = {};
      forget_mapped_files();  // the source, which is read again when the certificate is written
      const uint64_t memory = most_activations(back);
      within_memory(memory, [&] { certificate = yardstick->judge(back); });
      if (!certificate->within(tolerance)) look_for_ties(*yardstick, source, std::move(back), memory, &*certificate);
    } catch (Error& error) {
      excuse(error);
    }
  }
  options.warn = nullptr;  // what is said of the target has been said
  if (!target) target = prepared(std::move(source), format, options);
  const auto hold = [&](const Certificate& measured) {
    if (!measured.within(tolerance) && !options.keep) {
      throw Error(ErrorKind::Negative,
                  cat(path, ": not written, above the tolerance of ", tolerance,
                      " (--tolerance allows more, --keep writes it all the same): ", measured.text()));
    }
  };
  if (certificate) hold(*certificate);
  if (yardstick && options.judge) {
    certificate = judged(*target, path, options, *yardstick, tolerance);
    hold(*certificate);
  }
  if (certificate) target->metadata.emplace_back(kCertificateKey, certificate->json());
  write_model(*target, path, options.write);
  if (!without.empty() && given.warn) given.warn("no certificate: " + without);
  return certificate;
}

ModelFiles converted_files(Graph source, const std::string& path, const ConvertOptions& given) {
  ConvertOptions options = given;
  options.warn = nullptr;
  const Format* format = format_for_path(path);
  if (format == nullptr || format->to_files == nullptr) fail_usage(path, ": no format that can be written");
  options.write.file_name = std::filesystem::path(path).filename().string();
  return format->to_files(prepared(std::move(source), format, options), options.write);
}

int64_t converted_bytes(Graph source, const std::string& path, const ConvertOptions& options) {
  uint64_t bytes = 0;
  for (const ModelFile& file : converted_files(std::move(source), path, options)) bytes += file.bytes.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace dnn
