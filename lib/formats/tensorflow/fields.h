// NodeFields: the attributes of a node or function, whose reader is held to account for each; and which operators may stand
// where nothing reads what they give.
#pragma once
#include <schemas/tensorflow.pb.h>

#include <string>

#include "formats/leftovers.h"

namespace dnn::tensorflow {

using AttributeMap = google::protobuf::Map<std::string, AttrValue>;

class NodeFields {
 public:
  // `owner`: the node's operator, or "function"; both outlive this.
  NodeFields(const std::string& owner, const AttributeMap& attributes);

  // Null where it is absent. Whoever asks has taken it.
  const AttrValue* take(const std::string& key) const;
  // The same of a wanted kind: Malformed where it is another, Unsupported where the caller of a function decides it.
  const AttrValue* take(const std::string& key, AttrValue::ValueCase wanted) const;
  // Throws Unsupported where an attribute was not taken, is not irrelevant and not ignored by a person.
  void finish(const IgnoredFields& ignored) const;

 private:
  const std::string& owner_;
  const AttributeMap& attributes_;
  mutable Leftovers leftovers_;
};

// Operators that do something beside their outputs which is of no account for the model's: rows of irrelevant.def.
bool is_harmless(const NodeDef& node);

}  // namespace dnn::tensorflow
