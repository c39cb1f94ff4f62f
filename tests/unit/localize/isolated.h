// What tests of localising want: typed graphs from text, and the interpreter's traces of them.
#pragma once
#include <string>
#include <vector>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "stream/records.h"

namespace dnn {

inline Graph typed(const std::string& text) {
  Graph graph = parse_graph(text);
  infer_types(graph);
  return graph;
}

inline std::string with_text(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

inline std::vector<stream::TensorRecord> trace_of(const Graph& graph, const Tensor& input) {
  std::vector<stream::TensorRecord> records;
  interpret(graph, {input}, [&](const Graph&, ValueId id, const Tensor& tensor) {
    stream::TensorRecord record;
    record.name = graph.value(id).name;
    record.role = graph.is_input(id)    ? stream::Role::Input
                  : graph.is_output(id) ? stream::Role::Output
                                        : stream::Role::Activation;
    record.tensor = tensor;
    records.push_back(record);
  });
  return records;
}

}  // namespace dnn
