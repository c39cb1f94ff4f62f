// Random networks; see network.h.
#include "hunt/network.h"

#include <algorithm>

#include "base/error.h"
#include "ops/op.h"

namespace dnn::hunt {
namespace {

constexpr int64_t kMostElements = 6000;  // of a value that recipes go on from

bool is_real(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::BFloat16;
}

// Operators that give exact numbers of exact ones, beside those that move them.
bool keeps_exact(const std::string& op) {
  static const std::set<std::string> ops = {"Abs", "Clip",      "GlobalMaxPool", "Max",  "MaxPool",         "Min",
                                            "Neg", "ReduceMax", "ReduceMin",     "Relu", "ThresholdedRelu", "Where",
                                            "Sign"};
  if (ops.count(op) != 0) return true;
  const OpDef* def = find_op("", op);
  return def != nullptr && def->traits.has(Trait::Moves);
}

// The inputs of a network of that kind.
void add_inputs(Growth& g, const NetworkOptions& options, std::vector<ValueId>* inputs) {
  const Kinds kind = options.kind;
  const auto small = [&] { return g.chance.between(1, 3); };
  const bool images = kind == kCnn || kind == kDetector || (kind == kAny && g.chance.is(0.5));
  Shape shape;
  if (images) {
    shape = {g.chance.is(0.8) ? 1 : small(), g.chance.of({1, 2, 3, 4, 6, 8, 17}), g.chance.between(3, 15),
             g.chance.between(3, 15)};
  } else if (kind == kTransformer) {
    shape = {g.chance.is(0.7) ? 1 : small(), g.chance.between(2, 11), g.chance.of({4, 8, 12, 16})};
  } else {
    const int64_t rank = g.chance.between(1, 5);
    for (int64_t i = 0; i < rank; ++i) shape.push_back(g.chance.between(1, rank > 3 ? 5 : 9));
  }
  if (options.open) shape[0] = 1;
  const Type type(options.real, std::vector<Dim>(shape.begin(), shape.end()));
  inputs->push_back(g.net.input("x", type));
  if (g.chance.is(0.25)) inputs->push_back(g.net.input("x2", type));
}

}  // namespace

const std::vector<KindRow>& kinds() {
  static const std::vector<KindRow> rows = {
      {kAny, "any", "all operators, on tensors of any rank"},
      {kCnn, "cnn", "layers of image networks, which most formats can write"},
      {kTransformer, "transformer", "products, attention, norms and activations on sequences"},
      {kDetector, "detector", "image networks with joins, resizing, boxes and choices behind them"},
  };
  return rows;
}

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> rows;
    for (const std::vector<Recipe>& some :
         {element_recipes(), layer_recipes(), tensor_recipes(), detection_recipes(), control_recipes()})
      rows.insert(rows.end(), some.begin(), some.end());
    return rows;
  }();
  return all;
}

Growth::Growth(const NetworkOptions& options)
    : chance(options.seed), common(options.kind != kAny), real(options.real), seed_(options.seed), open_(options.open) {
  add_inputs(*this, options, &values_);
  exact_.insert(values_.begin(), values_.end());
}

ValueId Growth::choose(int rank, DType dtype, bool exact) {
  std::vector<ValueId> suited;
  // Hardly ever one of few elements, with which little can happen.
  for (const int64_t least : {chance.is(0.9) ? int64_t{6} : 1, int64_t{1}}) {
    for (ValueId v : values_) {
      const Type& type = net.type(v);
      const auto r = static_cast<int>(type.shape->size());
      if (type.dtype != dtype || (rank < 0 ? r == 0 : r != rank) || (exact && !is_exact(v))) continue;
      if (element_count(type.fixed_shape()) >= least) suited.push_back(v);
    }
    if (!suited.empty()) break;
  }
  if (suited.empty()) return kNoValue;
  // Networks are rather deep than broad.
  const auto behind =
      static_cast<size_t>(std::floor(chance.real() * chance.real() * static_cast<double>(suited.size())));
  return suited[suited.size() - 1 - behind];
}

ValueId Growth::like(ValueId v) {
  std::vector<ValueId> suited;
  for (ValueId other : values_) {
    if (other != v && net.type(other) == net.type(v)) suited.push_back(other);
  }
  return suited.empty() ? v : chance.of(suited);
}

ValueId Growth::emit(const std::string& op, const std::vector<ValueId>& inputs, Attributes attributes) {
  return emit_many(op, inputs, std::move(attributes), 1)[0];
}

std::vector<ValueId> Growth::emit_many(const std::string& op, const std::vector<ValueId>& inputs, Attributes attributes,
                                       size_t outputs) {
  net.set_name(cat("n", net.graph().order().size()));
  std::vector<ValueId> out = net.emit_many(op, inputs, std::move(attributes), outputs);
  made(op, inputs, out);
  return out;
}

void Growth::made(const std::string& op, const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs) {
  const bool exact = std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) {
    return v == kNoValue || net.graph().constant(v) != nullptr || is_exact(v);
  });
  for (ValueId v : outputs) {
    if (v == kNoValue) continue;
    const Type& type = net.type(v);
    if (type.dtype == DType::Undefined || !type.shape) fail_internal("a recipe made a value of unknown type by ", op);
    if (exact && (keeps_exact(op) || !is_real(type.dtype))) exact_.insert(v);
    made_.push_back(v);
    if (!type.fixed()) continue;  // numbers decide its extents: only the recipe goes on from it
    const int64_t elements = element_count(type.fixed_shape());
    if (elements > 0 && elements <= kMostElements) values_.push_back(v);
  }
}

ValueId Growth::numbers(const Shape& shape, double low, double high) {
  Tensor tensor(DType::Float32, shape);
  float* out = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.size(); ++i) out[i] = static_cast<float>(chance.real(low, high));
  return net.store("c", convert(tensor, real));
}

ValueId Growth::numbers(const Shape& shape, const std::vector<float>& values) {
  return net.store("c", convert(Tensor::of<float>(shape, values), real));
}

int64_t Growth::real_code() const { return static_cast<int64_t>(real); }

ValueId Growth::weights(const Shape& shape, int64_t terms) {
  const double most = std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(terms, 1)));
  return numbers(shape, -most, most);
}

ValueId Growth::integers(const Shape& shape, int64_t low, int64_t high, DType dtype) {
  std::vector<int64_t> all(static_cast<size_t>(element_count(shape)));
  for (int64_t& i : all) i = chance.between(low, high);
  return net.store("i", convert(Tensor::of<int64_t>(shape, all), dtype));
}

Graph Growth::finish() {
  const Uses uses(net.graph());
  int outputs = 0;
  for (ValueId v : made_) {
    // At times one that others read. Not by `chance`, so that a network of fewer steps is the beginning of this one.
    constexpr uint64_t kOneIn = 12;
    const bool shown = random_number(seed_, (uint64_t{1} << 32) + static_cast<uint64_t>(v)) % kOneIn == 0;
    if (uses.readers[v].empty() || shown) net.output(v, cat("y", outputs++));
  }
  if (outputs == 0) net.output(values_.back(), "y0");
  Graph graph = net.finish();
  if (!open_) return graph;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    Value& value = graph.value(v);
    if (graph.is_input(v)) {
      (*value.type.shape)[0] = Dim("N");
    } else if (!value.constant) {
      value.type = {};
    }
  }
  infer_types(graph);
  return graph;
}

Graph random_network(const NetworkOptions& options) {
  Growth growth(options);
  std::vector<const Recipe*> suited;
  double all = 0;
  for (const Recipe& recipe : recipes()) {
    if (options.kind != kAny && (recipe.kinds & options.kind) == 0) continue;
    suited.push_back(&recipe);
    all += recipe.weight;
  }
  constexpr int kTries = 20;  // for each step, as many recipes suit no value
  int steps = 0;
  for (int tried = 0; steps < options.steps && tried < kTries * options.steps; ++tried) {
    double at = growth.chance.real() * all;
    size_t chosen = 0;
    while (chosen + 1 < suited.size() && (at -= suited[chosen]->weight) >= 0) ++chosen;
    try {
      steps += suited[chosen]->apply(growth) ? 1 : 0;
    } catch (Error& e) {
      throw e.within(cat("recipe ", suited[chosen]->name));
    }
  }
  Graph graph = growth.finish();
  graph.name = cat("random-", options.seed);
  return graph;
}

}  // namespace dnn::hunt
