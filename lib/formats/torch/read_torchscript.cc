// From archive to graph: inputs, forward(), outputs; see torchscript.h.
#include <algorithm>
#include <set>

#include "formats/torch/archive.h"
#include "formats/torch/evaluate.h"
#include "formats/torch/shapes.h"
#include "formats/torch/signature.h"
#include "formats/torch/torchscript.h"

namespace dnn::torchscript {
namespace {

using torch::Any;

// Guesses of input shapes are tried one after another; each fixes one input.
constexpr int kMaxGuesses = 16;

// The tensors of a result, in order.
void collect(const Any& value, std::vector<Any>* tensors, int depth = 0) {
  if (depth > 20 || tensors->size() > 1000) fail_unsupported("forward() returns more than is read");
  if (value.tensor()) tensors->push_back(value);
  if (const auto* list = value.get<Any::List>()) {
    for (const Any& item : (*list)->items) collect(item, tensors, depth + 1);
  }
  if (const auto* dict = value.get<Any::Dict>()) {
    for (const auto& pair : **dict) collect(pair.second, tensors, depth + 1);
  }
}

// Shapes and dtypes that are taken of inputs of which the file says nothing, by their number.
struct Guesses {
  std::map<size_t, std::vector<Dim>> shapes;
  std::map<size_t, DType> dtypes;
  DType others = DType::Float32;
};

// Integers or truth values where operators that read the input as it is take nothing else; Undefined where they take real numbers.
DType wanted_dtype(const Graph& graph, ValueId input) {
  struct Place {
    const char* op;
    size_t input;
    DType dtype;
  };
  constexpr Place kPlaces[] = {{"Gather", 1, DType::Int64},     {"GatherElements", 1, DType::Int64},
                               {"GatherND", 1, DType::Int64},   {"ScatterElements", 1, DType::Int64},
                               {"ScatterND", 1, DType::Int64},  {"OneHot", 0, DType::Int64},
                               {"BitwiseNot", 0, DType::Int64}, {"BitwiseAnd", 0, DType::Int64},
                               {"BitwiseOr", 0, DType::Int64},  {"BitwiseXor", 0, DType::Int64},
                               {"Where", 0, DType::Bool}};
  static const std::set<std::string> kPassing = {"Identity",  "Unsqueeze", "Squeeze", "Reshape",
                                                 "Transpose", "Expand",    "Flatten"};
  std::set<ValueId> same = {input};
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (same.count(node.inputs[i]) == 0) continue;
      if (i == 0 && kPassing.count(node.op) != 0) same.insert(node.outputs[0]);
      for (const Place& place : kPlaces) {
        if (node.op == place.op && i == place.input) return place.dtype;
      }
    }
  }
  return DType::Undefined;
}

// `untyped`: the inputs of which the file says no dtype.
Graph trace(const ModelSource& source, const std::vector<std::string>& shapes, const Guesses& guesses,
            std::vector<size_t>* untyped) {
  untyped->clear();
  torch::Archive archive(source.bytes, source.owner);
  torch::Importer importer(source.ignored);
  torch::Evaluator evaluator(archive, importer, source.bytes.size());
  Graph& graph = importer.draft.graph;
  graph.producer = "torchscript";
  const torch::Function& forward = evaluator.forward();
  const std::vector<Type> traced = evaluator.traced_inputs();
  size_t n_inputs = 0;
  for (size_t i = 1; i < forward.parameters.size(); ++i) n_inputs += forward.parameters[i].fallback ? 0 : 1;
  if (forward.parameters.empty()) fail_malformed("forward() takes no self");
  if (n_inputs > 1000) fail_unsupported("forward() takes ", n_inputs, " inputs");
  std::vector<Any> arguments = {evaluator.root()};
  const std::string record = std::string("extra/") + torch::kSignatureKey;
  torch::ModelSignature signature;
  if (archive.has(record)) signature = torch::parse_signature(archive.text(record));
  graph.name = signature.name;
  const bool known_inputs = signature.inputs.size() == n_inputs;
  for (size_t i = 0; i < n_inputs; ++i) {
    const std::string name = known_inputs ? signature.inputs[i].name : forward.parameters[i + 1].name;
    Type type;
    const auto dtype = guesses.dtypes.find(i);
    type.dtype = dtype == guesses.dtypes.end() ? guesses.others : dtype->second;
    if (!known_inputs && traced.size() == n_inputs) {
      type.dtype = traced[i].dtype;
    } else if (!known_inputs) {
      untyped->push_back(i);
    }
    if (known_inputs) {
      type = signature.inputs[i].type;
    } else if (traced.size() == n_inputs && torch::given_shape(shapes, name, n_inputs) == std::nullopt) {
      type = traced[i];
    } else if (const auto guess = guesses.shapes.find(i); guess != guesses.shapes.end()) {
      type.shape = guess->second;
    }
    arguments.push_back(importer.cell(importer.add_input(name, torch::with_shape(type, shapes, name, n_inputs))));
  }
  const Any result = evaluator.call(forward, arguments, {});
  std::vector<Any> tensors;
  collect(result, &tensors);
  if (tensors.empty()) fail_unsupported("forward() returns no tensor");
  DraftBuilder steps(importer.draft, "output");
  for (const Any& tensor : tensors) {
    ValueId v = importer.real_of(*tensor.get<Any::Tensor>(), steps, "forward()");
    if (graph.is_input(v) || graph.is_output(v) || graph.constant(v) != nullptr) v = steps.emit("Identity", {v});
    if (signature.outputs.size() == tensors.size())
      v = importer.draft.rename(v, signature.outputs[graph.outputs.size()].name, "output");
    graph.outputs.push_back(v);
  }
  torch::read_extras(archive, &graph);
  for (ValueId v : graph.inputs) {
    if (!graph.value(v).type.shape)
      fail_unsupported("input '", graph.value(v).name, "': the file does not say its shape; give it with --shape ",
                       graph.value(v).name, ":1x3x224x224");
  }
  return importer.draft.finish();
}

}  // namespace

bool sniff(const ModelSource& source) {
  return torch::has_record(source.bytes, "data.pkl") && torch::has_record(source.bytes, "constants.pkl");
}

Graph read(const ModelSource& source) {
  Guesses guesses;
  std::vector<size_t> untyped;
  std::optional<Error> of_float32;  // where weights of another dtype say what the inputs are
  std::vector<DType> others = {DType::Float64, DType::BFloat16, DType::Float16};
  for (int tries = 0; tries < kMaxGuesses; ++tries) {
    try {
      Graph graph = trace(source, source.shapes, guesses, &untyped);
      bool changed = false;
      for (size_t i : untyped) {
        const DType wanted = wanted_dtype(graph, graph.inputs[i]);
        changed = (wanted != DType::Undefined && guesses.dtypes.emplace(i, wanted).second) || changed;
      }
      if (!changed) return graph;
    } catch (const torch::InputGuess& guess) {
      guesses.shapes[guess.input] = guess.shape;
    } catch (const Error& error) {
      if (untyped.empty() || error.kind() != ErrorKind::Malformed) throw;
      if (!of_float32) of_float32 = error;
      if (others.empty()) throw Error(*of_float32);
      guesses.others = others.back();
      others.pop_back();
    }
  }
  fail_unsupported("the shapes of its inputs cannot be found; give them with --shape NAME:1x3x224x224");
}

}  // namespace dnn::torchscript
