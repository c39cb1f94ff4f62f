// Reading with shapes; see shaped.h.
#include "formats/shaped.h"

#include "formats/torch/pt2.h"
#include "formats/torch/torchscript.h"

namespace dnn {

Graph read_model(const ModelSource& source, const std::vector<std::string>& shapes) {
  try {
    const std::string name = sniff_format(source).name;
    if (name == "torchscript") return torchscript::read_shaped(source, shapes);
    if (name == "pt2") return pt2::read_shaped(source, shapes);
  } catch (Error& error) {
    throw error.within(source_name(source.path));
  }
  return read_model(source);
}

}  // namespace dnn
