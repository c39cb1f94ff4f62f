// A Keras model's configuration: its layers and how they call each other, in one form for the dialects of Keras 1 to 3.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "formats/keras/fields.h"
#include "tensor/tensor.h"

namespace dnn::keras {

// Beside a layer's configuration dnn-tools keeps the source's names of its node and result, where they had to be changed.
inline constexpr const char* kSourceKey = "dnn-tools.source";

// Text as JSON, with Python's words for infinities and NaN as texts: "inf", "-inf", "nan". Malformed where it is none or is nested too deeply, Unsupported where it is far longer than a model's.
Json parse_json(std::string_view text, const char* what);

// What an inner layer's call gave: output `output` of call number `call`.
struct TensorRef {
  std::string layer;
  int64_t call = 0, output = 0;
};

// One call of a layer. Arguments that are tensors are objects {"tensor": [layer, call, output]}.
struct CallConfig {
  Json args = Json::array(), kwargs = Json::object();
};

struct Weight {
  std::string name;  // in the file; empty where it has none there
  std::string role;  // behind the layer's name: "kernel", "query/kernel", or a number
  Tensor value;
};

struct Model;

struct Layer {
  std::string class_name, name, module;
  std::string source_node, source_value;  // names that a file of dnn-tools keeps; empty: the layer's own
  Fields config;                          // what its import does not take of it is refused
  std::vector<CallConfig> calls;
  std::unique_ptr<Model> model;  // of a layer that is a model itself
  std::vector<Layer> inner;      // of a wrapper: the layer that it calls; of Bidirectional forwards and backwards
  std::vector<Weight> weights;

  std::string label() const { return "layer '" + name + "' (" + class_name + ")"; }
};

struct Model {
  std::string name;
  bool sequential = false;  // each layer calls the one before it
  std::vector<Layer> layers;
  std::vector<TensorRef> inputs, outputs;
  Json input_shape;  // of a sequential model without an input layer; null: not said

  Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();
};

// The model of a configuration {"class_name", "config", ...}, of a file that Keras `version` wrote. Malformed, or Unsupported for
// programs, classes of a person's own and entries that are not known, wherever they stand.
Model model_of(const Json& config, int version, const IgnoredFields& ignored);

// The layer call that an argument refers to; false where it is no tensor.
bool is_tensor(const Json& argument);
TensorRef tensor_of(const Json& argument);
// All tensors of a call, in order.
std::vector<TensorRef> tensors_of(const CallConfig& call);

}  // namespace dnn::keras
