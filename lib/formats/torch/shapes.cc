// Shapes given by the user; see shapes.h.
#include "formats/torch/shapes.h"

#include "base/error.h"

namespace dnn::torch {

Dim open_extent(const std::string& input, size_t axis, size_t rank) {
  if (axis == 0) return Dim(std::string("batch"));
  if (rank == 4 && axis == 2) return Dim(std::string("height"));
  if (rank == 4 && axis == 3) return Dim(std::string("width"));
  return Dim(cat(input, "_dim", axis));
}

std::optional<std::vector<Dim>> given_shape(const std::vector<std::string>& specs, const std::string& input,
                                            size_t n_inputs) {
  for (const std::string& spec : specs) {
    const size_t colon = spec.rfind(':');
    const std::string name = colon == std::string::npos ? "" : spec.substr(0, colon);
    if (name != input && !(name.empty() && n_inputs == 1)) continue;
    const std::string text = colon == std::string::npos ? spec : spec.substr(colon + 1);
    std::vector<Dim> dims;
    if (text == "scalar") return dims;
    const std::vector<std::string> words = split(text, 'x');
    for (const std::string& word : words) {
      int64_t size = -1;
      if (word == "?") {
        dims.push_back(open_extent(input, dims.size(), words.size()));
      } else if (parse_int(word, &size) && size >= 0) {
        dims.emplace_back(size);
      } else {
        fail_usage("shape ", dnn::quoted(spec), ": extents look like 1x3x224x224, not ", dnn::quoted(word));
      }
    }
    return dims;
  }
  return std::nullopt;
}

Type with_shape(const Type& type, const std::vector<std::string>& specs, const std::string& input, size_t n_inputs) {
  const std::optional<std::vector<Dim>> given = given_shape(specs, input, n_inputs);
  Type result = type;
  if (!given) return result;
  if (!type.shape) {
    result.shape = given;
    return result;
  }
  if (given->size() != type.shape->size())
    fail_usage("input ", input, " has ", type.shape->size(), " axes, the shape given ", given->size());
  for (size_t i = 0; i < given->size(); ++i) {
    Dim& dim = (*result.shape)[i];
    if (!(*given)[i].fixed()) continue;
    if (dim.fixed() && dim.size != (*given)[i].size)
      fail_usage("input ", input, " is ", type.text(), ", which the shape given contradicts");
    dim = (*given)[i];
  }
  return result;
}

}  // namespace dnn::torch
