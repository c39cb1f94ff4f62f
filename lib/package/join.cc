// Joining packages; see join.h.
#include "package/join.h"

#include <map>

#include "base/sha256.h"

namespace dnn {
namespace {

// Of bytes, and what they mean: a tensor of another shape is another constant.
std::string digest_of(const Tensor& tensor) {
  std::string digest = cat(dtype_name(tensor.dtype()), shape_text(tensor.shape()), " ");
  if (tensor.dtype() != DType::String) return digest + sha256_hex(tensor.bytes());
  for (const std::string& text : tensor.strings()) digest += sha256_hex(as_bytes(text));
  return digest;
}

// Where each of `more` is among the constants, which grow by those that are new.
std::vector<int64_t> places_of(const Constants& more, Constants* constants) {
  std::map<std::string, int64_t> held;
  for (size_t i = 0; i < constants->size(); ++i) held.try_emplace(digest_of((*constants)[i]), static_cast<int64_t>(i));
  std::vector<int64_t> places;
  for (const Tensor& constant : more.all()) {
    const auto [at, fresh] = held.try_emplace(digest_of(constant), static_cast<int64_t>(constants->size()));
    if (fresh) constants->push_back(constant);
    places.push_back(at->second);
  }
  return places;
}

void move(Argument* argument, const std::vector<int64_t>& places) {
  if (argument->kind == Argument::Kind::Constant) argument->at = places.at(argument->at);
}

std::vector<std::pair<std::string, std::string>> names_and_types(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::pair<std::string, std::string>> values;
  for (ValueId id : ids) values.emplace_back(graph.value(id).name, graph.value(id).type.text());
  return values;
}

}  // namespace

bool alike(const Variant& a, const Variant& b) {
  if (a.target.backend != b.target.backend) return false;
  if (a.graph == b.graph) return true;
  return names_and_types(*a.graph, a.graph->inputs) == names_and_types(*b.graph, b.graph->inputs) &&
         names_and_types(*a.graph, a.graph->outputs) == names_and_types(*b.graph, b.graph->outputs);
}

void add_variants(Package* package, const Package& more) {
  for (const Variant& v : more.variants) {
    if (!alike(package->variants.front(), v))
      fail_internal("variants for ", package->variants.front().target.isa, " and ", v.target.isa,
                    " are not of one model");
  }
  const std::vector<int64_t> places = places_of(more.constants, &package->constants);
  for (Variant variant : more.variants) {
    for (Placement& placement : variant.values) move(&placement.where, places);
    for (Step& step : variant.steps) {
      for (Argument& argument : step.arguments) move(&argument, places);
    }
    package->variants.push_back(std::move(variant));
  }
}

}  // namespace dnn
