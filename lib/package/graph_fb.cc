// Graphs to and from FlatBuffers; see graph_fb.h.
#include "package/graph_fb.h"

#include <map>

namespace dnn {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

std::vector<std::string> texts(const flatbuffers::Vector<Offset<flatbuffers::String>>* v) {
  std::vector<std::string> result;
  if (v != nullptr) {
    for (const auto* s : *v) result.push_back(s->str());
  }
  return result;
}

class Packer {
  using Dims = flatbuffers::Vector<Offset<fb::Dim>>;

 public:
  Packer(FlatBufferBuilder& builder, const StoreBlob& store) : b_(builder), store_(store) {}

  Offset<fb::Graph> graph(const Graph& g) {
    std::vector<Offset<fb::Value>> values;
    for (ValueId id = 0; id < g.value_count(); ++id) values.push_back(value(g.value(id)));
    std::vector<Offset<fb::Node>> nodes;
    for (NodeId id = 0; id < g.node_slots(); ++id) nodes.push_back(node(g.alive(id) ? g.node(id) : Node()));
    std::vector<Offset<fb::Pair>> metadata;
    for (const auto& [key, v] : g.metadata)
      metadata.push_back(fb::CreatePair(b_, b_.CreateSharedString(key), b_.CreateSharedString(v)));
    std::vector<Offset<fb::Opset>> opsets;
    for (const auto& [domain, v] : g.source_opsets)
      opsets.push_back(fb::CreateOpset(b_, b_.CreateSharedString(domain), v));
    const auto name = b_.CreateSharedString(g.name), doc = b_.CreateSharedString(g.doc),
               producer = b_.CreateSharedString(g.producer);
    const auto meta = b_.CreateVector(metadata);
    const auto ops = b_.CreateVector(opsets);
    const auto inputs = b_.CreateVector(g.inputs), outputs = b_.CreateVector(g.outputs),
               captures = b_.CreateVector(g.captures);
    const auto vs = b_.CreateVector(values);
    const auto ns = b_.CreateVector(nodes);
    const auto order = b_.CreateVector(g.order());
    return fb::CreateGraph(b_, name, doc, producer, meta, ops, inputs, outputs, captures, vs, ns, order);
  }

  Offset<fb::Tensor> tensor(const Tensor& t) {
    const auto shape = b_.CreateVector(t.shape());
    if (t.dtype() == DType::String) {
      const auto strings = b_.CreateVectorOfStrings(t.strings());
      return fb::CreateTensor(b_, static_cast<uint8_t>(t.dtype()), shape, 0, strings);
    }
    const auto blob = store_(t.bytes());
    return fb::CreateTensor(b_, static_cast<uint8_t>(t.dtype()), shape, blob);
  }

 private:
  Offset<fb::Value> value(const Value& v) {
    const auto constant = v.constant ? tensor(*v.constant) : Offset<fb::Tensor>();
    const auto name = b_.CreateSharedString(v.name), doc = b_.CreateSharedString(v.doc),
               layout = b_.CreateSharedString(v.layout);
    const auto ds = v.type.shape ? dims(*v.type.shape) : Offset<Dims>();
    const auto aliases = b_.CreateVectorOfStrings(v.aliases);
    return fb::CreateValue(b_, name, static_cast<uint8_t>(v.type.dtype), v.type.shape.has_value(), ds, constant,
                           aliases, doc, layout);
  }

  // Equal ones once: most values have the shape of another.
  Offset<Dims> dims(const std::vector<Dim>& shape) {
    std::vector<std::pair<int64_t, std::string>> key;
    for (const Dim& dim : shape) key.emplace_back(dim.size, dim.symbol);
    const auto [entry, fresh] = dims_.try_emplace(std::move(key));
    if (fresh) {
      std::vector<Offset<fb::Dim>> items;
      for (const Dim& dim : shape) items.push_back(fb::CreateDim(b_, dim.size, b_.CreateSharedString(dim.symbol)));
      entry->second = b_.CreateVector(items);
    }
    return entry->second;
  }

  Offset<fb::Node> node(const Node& n) {
    std::vector<Offset<fb::Attribute>> attributes;
    for (const auto& [key, a] : n.attributes) attributes.push_back(attribute(key, a));
    const auto name = b_.CreateSharedString(n.name), op = b_.CreateSharedString(n.op),
               domain = b_.CreateSharedString(n.domain), doc = b_.CreateSharedString(n.doc);
    const auto inputs = b_.CreateVector(n.inputs), outputs = b_.CreateVector(n.outputs);
    const auto as = b_.CreateVector(attributes);
    const auto sources = b_.CreateVectorOfStrings(n.sources);
    return fb::CreateNode(b_, name, op, domain, inputs, outputs, as, sources, doc);
  }

  Offset<fb::Attribute> attribute(const std::string& key, const Attribute& a) {
    const auto name = b_.CreateSharedString(key);
    Offset<flatbuffers::Vector<uint8_t>> s;
    Offset<fb::Tensor> t;
    Offset<fb::Graph> g;
    Offset<flatbuffers::Vector<int64_t>> ints;
    Offset<flatbuffers::Vector<float>> floats;
    Offset<fb::Strings> strings;
    Offset<fb::Tensors> tensors;
    if (const auto* v = std::get_if<std::string>(&a))
      s = b_.CreateVector(reinterpret_cast<const uint8_t*>(v->data()), v->size());
    if (const auto* v = std::get_if<Tensor>(&a)) t = tensor(*v);
    if (const auto* v = std::get_if<std::shared_ptr<const Graph>>(&a)) g = graph(**v);
    if (const auto* v = std::get_if<std::vector<int64_t>>(&a)) ints = b_.CreateVector(*v);
    if (const auto* v = std::get_if<std::vector<float>>(&a)) floats = b_.CreateVector(*v);
    if (const auto* v = std::get_if<std::vector<std::string>>(&a))
      strings = fb::CreateStrings(b_, b_.CreateVectorOfStrings(*v));
    if (const auto* v = std::get_if<std::vector<Tensor>>(&a)) {
      std::vector<Offset<fb::Tensor>> items;
      for (const Tensor& item : *v) items.push_back(tensor(item));
      tensors = fb::CreateTensors(b_, b_.CreateVector(items));
    }
    const auto* i = std::get_if<int64_t>(&a);
    const auto* f = std::get_if<float>(&a);
    return fb::CreateAttribute(b_, name, static_cast<uint8_t>(a.index()), i == nullptr ? 0 : *i, f == nullptr ? 0 : *f,
                               s, t, g, ints, floats, strings, tensors);
  }

  FlatBufferBuilder& b_;
  const StoreBlob& store_;
  std::map<std::vector<std::pair<int64_t, std::string>>, Offset<Dims>> dims_;
};

class Unpacker {
 public:
  Unpacker(const LoadBlob& load, const std::shared_ptr<const void>& owner) : load_(load), owner_(owner) {}

  Graph graph(const fb::Graph* g) {
    if (g == nullptr || g->values() == nullptr || g->nodes() == nullptr || g->order() == nullptr)
      fail_malformed("a graph is missing");
    Graph result;
    result.name = text_of(g->name());
    result.doc = text_of(g->doc());
    result.producer = text_of(g->producer());
    if (g->metadata() != nullptr) {
      for (const auto* pair : *g->metadata())
        result.metadata.emplace_back(text_of(pair->key()), text_of(pair->value()));
    }
    if (g->opsets() != nullptr) {
      for (const auto* opset : *g->opsets()) result.source_opsets[text_of(opset->domain())] = opset->version();
    }
    for (const auto* v : *g->values()) result.add_value(value(v));
    for (const auto* n : *g->nodes()) result.add_node(node(n));
    std::vector<NodeId> order;
    std::vector<bool> alive(result.node_slots(), false);
    for (NodeId id : *g->order()) {
      if (id < 0 || id >= result.node_slots() || alive[id]) fail_malformed("node order names node ", id);
      alive[id] = true;
      order.push_back(id);
    }
    for (NodeId id = 0; id < result.node_slots(); ++id) {
      if (!alive[id]) result.remove_node(id);
    }
    result.set_order(std::move(order));
    result.inputs = ids(g->inputs(), result);
    result.outputs = ids(g->outputs(), result);
    result.captures = ids(g->captures(), result);
    verify(result);
    return result;
  }

  Tensor tensor(const fb::Tensor* t) {
    const DType dtype = dtype_from_onnx(t->dtype());
    if (dtype == DType::Undefined) fail_malformed("a tensor has dtype ", static_cast<int>(t->dtype()));
    Shape shape = numbers_of(t->shape());
    if (dtype == DType::String) {
      const std::vector<std::string> strings = texts(t->strings());
      if (element_count(shape) != static_cast<int64_t>(strings.size()))
        fail_malformed("a string tensor does not fit its shape");
      Tensor result(dtype, shape);
      result.mutable_strings() = strings;
      return result;
    }
    return Tensor::view(dtype, std::move(shape), load_(t->data()), owner_);
  }

 private:
  static std::vector<ValueId> ids(const flatbuffers::Vector<int32_t>* v, const Graph& g) {
    std::vector<ValueId> result = numbers_of(v);
    for (ValueId id : result) {
      if (id < 0 || id >= g.value_count()) fail_malformed("a graph names value ", id);
    }
    return result;
  }

  Value value(const fb::Value* v) {
    Value result;
    result.name = text_of(v->name());
    result.type.dtype = dtype_from_onnx(v->dtype());
    if (v->has_shape()) {
      result.type.shape.emplace();
      if (v->dims() != nullptr) {
        for (const auto* dim : *v->dims()) {
          Dim d(text_of(dim->symbol()));
          d.size = dim->size();
          result.type.shape->push_back(d);
        }
      }
    }
    if (v->constant() != nullptr) result.constant = tensor(v->constant());
    result.aliases = texts(v->aliases());
    result.doc = text_of(v->doc());
    result.layout = text_of(v->layout());
    return result;
  }

  Node node(const fb::Node* n) {
    Node result;
    result.name = text_of(n->name());
    result.op = text_of(n->op());
    result.domain = text_of(n->domain());
    result.inputs = numbers_of(n->inputs());
    result.outputs = numbers_of(n->outputs());
    result.sources = texts(n->sources());
    result.doc = text_of(n->doc());
    if (n->attributes() != nullptr) {
      for (const auto* a : *n->attributes()) result.attributes[text_of(a->name())] = attribute(a);
    }
    return result;
  }

  Attribute attribute(const fb::Attribute* a) {
    switch (a->kind()) {
      case 0: return a->i();
      case 1: return a->f();
      case 2:
        return a->s() == nullptr ? std::string()
                                 : std::string(reinterpret_cast<const char*>(a->s()->data()), a->s()->size());
      case 3:
        if (a->t() == nullptr) break;
        return tensor(a->t());
      case 4: return std::make_shared<const Graph>(graph(a->g()));
      case 5: return numbers_of(a->ints());
      case 6: return numbers_of(a->floats());
      case 7: return a->strings() == nullptr ? std::vector<std::string>() : texts(a->strings()->items());
      case 8: {
        std::vector<Tensor> items;
        if (a->tensors() != nullptr && a->tensors()->items() != nullptr) {
          for (const auto* item : *a->tensors()->items()) items.push_back(tensor(item));
        }
        return items;
      }
      default: break;
    }
    fail_malformed("attribute '", text_of(a->name()), "' has kind ", static_cast<int>(a->kind()));
  }

  const LoadBlob& load_;
  const std::shared_ptr<const void>& owner_;
};

}  // namespace

Offset<fb::Tensor> pack_tensor(FlatBufferBuilder& builder, const Tensor& tensor, const StoreBlob& store) {
  return Packer(builder, store).tensor(tensor);
}
Offset<fb::Graph> pack_graph(FlatBufferBuilder& builder, const Graph& graph, const StoreBlob& store) {
  return Packer(builder, store).graph(graph);
}
Tensor unpack_tensor(const fb::Tensor* tensor, const LoadBlob& load, const std::shared_ptr<const void>& owner) {
  if (tensor == nullptr) fail_malformed("a tensor is missing");
  return Unpacker(load, owner).tensor(tensor);
}
Graph unpack_graph(const fb::Graph* graph, const LoadBlob& load, const std::shared_ptr<const void>& owner) {
  return Unpacker(load, owner).graph(graph);
}

}  // namespace dnn
