// What importing one TensorFlow operator needs: its inputs as IR values with their types, its attributes, and steps that
// infer types and fold constants as they go, since a GraphDef says neither.
#pragma once
#include <schemas/tensorflow.pb.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/draft.h"
#include "formats/tensorflow/fields.h"

namespace dnn::tensorflow {

// What flows along an edge.
struct Item {
  ValueId value = kNoValue;
  int variable = -1;   // a handle: index of the variable
  bool dead = false;   // the branch that a switch does not take
  std::string reason;  // why there is no value: Unsupported only where an output needs it
  static Item of(ValueId v) {
    Item item;
    item.value = v;
    return item;
  }
};

// A model while it is read.
struct Source {
  Draft draft;
  std::map<ValueId, std::vector<Dim>> extents;  // lists and scalars of integers that are known in part
  struct Made {
    std::string op;
    std::vector<ValueId> inputs;
  };
  std::map<ValueId, Made> made;        // folded constants: what would have computed them
  std::map<ValueId, ValueId> derived;  // folded constants: the constant that they are another form of
  std::map<NodeId, ValueId> biases;    // Adds that a convolution or product may take in: the bias, of rank 1
  SharedBytes file;                    // that constants lie in
  IgnoredFields ignored;               // see formats/leftovers.h
  int64_t room = 0;                    // elements that constants may yet be larger than the file

  // SpaceToBatchND and the convolutions behind one, by what they make: see batch_to_space().
  struct Spaced {
    ValueId x = kNoValue;
    std::vector<int64_t> block, pads;  // pads: before, after, before, ...
  };
  std::map<ValueId, Spaced> spaced;
  struct Convolved {
    ValueId x = kNoValue, weight = kNoValue;
    Attributes attributes;
    bool plain = false;  // no padding, strides or dilations of its own
  };
  std::map<ValueId, Convolved> convolved;
};

class Op;

// One row per operator, from ops.def.
struct OpRow {
  const char* name;
  const char* outputs;  // their names, where there are several
  void (*import)(Op&);
  const char* as;  // the IR's operator, or a reason to refuse
};
const OpRow* find_row(const std::string& name);
bool is_refused(const OpRow& row);

class Op : public DraftBuilder {
 public:
  Op(Source& source, const NodeDef& node, const OpRow& row, std::vector<Item> inputs);

  const OpRow& row() const { return row_; }
  const std::string& node_op() const { return node_.op(); }
  size_t input_count() const { return inputs_.size(); }
  ValueId in(size_t i) const;  // Malformed when it is missing
  // Its value where it is known, else null.
  const Tensor* constant(size_t i) const { return draft().graph.constant(in(i)); }
  const Tensor* constant_of(ValueId v) const { return draft().graph.constant(v); }
  // A constant list (or scalar) of integers; Unsupported where it is computed.
  std::vector<int64_t> ints(size_t i) const;
  int64_t one(size_t i) const;
  // The same where some entries may be unknown; nothing where all are.
  std::optional<std::vector<Dim>> dims(size_t i) const;
  void set_dims(ValueId v, std::vector<Dim> dims) { source_.extents[v] = std::move(dims); }
  // Input i as a list of int64: a constant where all entries are known, else what computes it.
  ValueId extents(size_t i);
  // The same for Reshape, whose -1 is what is left over: a constant where at most one entry is not known.
  ValueId new_extents(size_t i);

  const Type& type(ValueId v) const { return draft().graph.value(v).type; }
  DType dtype(ValueId v) const { return type(v).dtype; }
  bool ranked(ValueId v) const { return type(v).shape.has_value(); }
  // Extents, -1 where open; Unsupported where the rank is unknown.
  std::vector<int64_t> shape(ValueId v) const;
  int64_t rank(ValueId v) const { return static_cast<int64_t>(shape(v).size()); }

  // The node that makes `v`, where it is one of the last; null otherwise.
  const Node* maker(ValueId v) const;

  // Attributes; Malformed where one is of another type.
  int64_t integer(const std::string& key, int64_t fallback) const;
  float number_of(const std::string& key, float fallback) const;
  bool flag(const std::string& key, bool fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  std::vector<int64_t> integers(const std::string& key) const;
  std::optional<DType> dtype_attribute(const std::string& key) const;

  // Steps that infer types, and compute what is constant.
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                 size_t outputs);
  ValueId transpose(ValueId v, const Permutation& perm);
  ValueId to_dtype(ValueId v, DType dtype);
  ValueId reshape(ValueId v, const std::vector<int64_t>& shape) { return emit("Reshape", {v, list(shape)}); }
  ValueId scalar(double value, DType dtype);

  // The Add that made `v` adds this bias: see Source::biases.
  void mark_bias(ValueId v, ValueId bias);
  // Throws Unsupported where an attribute is left that is not known to be irrelevant; see fields.h.
  void finish() const { fields_.finish(source_.ignored); }
  // Output i is `v`, under the node's name unless `v` has one.
  void define(size_t i, ValueId v);
  std::vector<Item> take_outputs() { return std::move(outputs_); }
  Source& source() { return source_; }

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(parts...);
  }
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(parts...);
  }

 private:
  Source& source_;
  const NodeDef& node_;
  const NodeFields fields_;  // its attributes, which nothing else reads
  const OpRow& row_;
  std::vector<Item> inputs_, outputs_;
};

}  // namespace dnn::tensorflow
