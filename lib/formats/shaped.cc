// Reading with shapes; see shaped.h.
#include "formats/shaped.h"

#include "formats/torch/pt2.h"
#include "formats/torch/torchscript.h"

namespace dnn {

Graph read_model(const ModelSource& source, const std::vector<std::string>& shapes) {
  try {
    const std::string name = sniff_format(source).name;
    if (name == "torchscript" || name == "pt2") {
      Graph graph = name == "pt2" ? pt2::read_shaped(source, shapes) : torchscript::read_shaped(source, shapes);
      check_names(graph);
      return graph;
    }
  } catch (Error& error) {
    throw error.within(source_name(source.path));
  }
  return read_model(source);
}

}  // namespace dnn
