// Writing TFLite: the graph with channels last, operator by operator; see tflite.h.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "formats/tflite/exports.h"
#include "formats/tflite/metadata.h"
#include "formats/tflite/tflite.h"
#include "layout/channels_last.h"
#include "ops/op.h"

namespace dnn::tflite {
const std::vector<ExportRow>& export_rows() {
  static const std::vector<ExportRow> rows = {
#define DNN_TFLITE_EXPORT(domain, op, fuses, on_quantized, function) \
  {#domain, #op, fuses, OnQuantized::on_quantized, function},
#include "formats/tflite/exports.def"
  };
  return rows;
}

namespace {

constexpr size_t kLarge = size_t{64} << 10;

Graph prepared(const Graph& source) {
  Graph graph = source;
  infer_types(graph);
  make_signed(graph);
  to_channels_last(graph);
  move_quantized(graph);
  return graph;
}

// Large constants go from the graph once their last reader is written: the file holds them.
void write_nodes(Graph& graph, const Plan& plan, File& file) {
  for (ValueId v : graph.inputs) file.tensor(v);
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const auto planned = plan.nodes.find(id);
    if (planned == plan.nodes.end() || plan.skipped.count(id) != 0) continue;
    Export context(file, graph.node(id), planned->second);
    planned->second.row->write(context);
    context.finish();
    const std::string& op = graph.node(id).op;
    if (op == "DequantizeLinear" || op == "Cast") continue;  // others may take what it reads as it is stored
    for (ValueId v : graph.node(id).inputs) {
      const dnn::Tensor* constant = graph.constant(v);
      if (constant == nullptr || constant->size_bytes() < kLarge || graph.is_output(v)) continue;
      if (uses.readers[static_cast<size_t>(v)].back() == id) graph.value(v).constant.reset();
    }
  }
}

// A copy of bytes that are not read again: their pages go as it grows.
std::string moved_out(Bytes bytes) {
  constexpr size_t kPiece = size_t{4} << 20;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::string copy;
  copy.reserve(bytes.size());
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size()))) {
    const Bytes piece = bytes.first(std::min(kPiece, bytes.size()));
    copy += as_text(piece);
    const size_t ahead = (page - reinterpret_cast<uintptr_t>(piece.data()) % page) % page;  // of the first whole page
    if (ahead + page > piece.size()) continue;
    auto* const first = const_cast<std::byte*>(piece.data()) + ahead;
    ::madvise(first, (piece.size() - ahead) / page * page, MADV_DONTNEED);
  }
  return copy;
}

}  // namespace

ModelFiles to_files(const Graph& source, const WriteOptions& options) {
  Graph graph = prepared(source);
  const Plan plan = make_plan(graph);
  File file(graph, plan, options.float16_weights);
  write_nodes(graph, plan, file);
  ModelFiles files;  // a list of initializers would be copied
  files.push_back({"", moved_out(file.finish())});
  files[0].bytes += archive_of(graph);
  return files;
}

}  // namespace dnn::tflite
