// Device lists of branched networks, and placements by the names of nodes.
#include "branch/placement.h"

#include <algorithm>

#include "base/error.h"
#include "branch/config.h"
#include "graph/locate.h"
#include "place/measure.h"
#include "place/rules.h"

namespace dnn::branch {
namespace {

// The device that a node is called after, or null: `st_cpu_conv`.
const ProcessorName* processor_in(const std::string& name) {
  const std::vector<std::string> words = split(name, '_');
  return words.size() < 2 || words[1].size() < 2 ? nullptr : find_processor(words[1]);
}

}  // namespace

std::vector<Part> parse_parts(const std::string& list) {
  std::string letters;
  for (const ProcessorName& row : processor_names()) letters += row.letter;
  return place::parse_parts(list, letters);
}

std::string letters_named(const Graph& graph) {
  std::string letters;
  for (const ProcessorName& row : processor_names()) {
    if (std::any_of(graph.order().begin(), graph.order().end(),
                    [&](NodeId id) { return processor_in(graph.node(id).name) == &row; }))
      letters += row.letter;
  }
  return letters;
}

std::vector<size_t> place_by_names(const Graph& graph, const std::string& letters) {
  return place::places_of_nodes(graph, [&](NodeId id) -> std::optional<size_t> {
    const Node& node = graph.node(id);
    const ProcessorName* row = processor_in(node.name);
    if (row == nullptr) return std::nullopt;
    const size_t place = letters.find(row->letter);
    if (place == std::string::npos)
      fail_usage(label_in(graph, node), " is for ", row->letter, " (", row->name,
                 "), which no device is given for; add ", row->letter, "=DEVICE to --devices");
    return place;
  });
}

std::unique_ptr<ParallelSession> open_parallel(const Graph& graph, const std::vector<Part>& parts,
                                               const CompileOptions& options) {
  std::string letters;
  for (const Part& part : parts) letters += part.letter;
  return place::open_parallel(graph, parts, place_by_names(graph, letters), options);
}

double branches_us(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options, int64_t warmup,
                   int64_t runs) {
  const std::string letters = letters_named(graph);
  std::vector<Part> used = parts;
  std::erase_if(used, [&](const Part& part) { return letters.find(part.letter) == std::string::npos; });
  const std::unique_ptr<ParallelSession> session = open_parallel(graph, used, options);
  const std::vector<Tensor> inputs = place::inputs_for(graph);
  return place::typical_us({[&] { return session->run(inputs); }, session->callers_processors()}, warmup, runs);
}

}  // namespace dnn::branch
