// Accounting for attributes; see fields.h.
#include "formats/tensorflow/fields.h"

#include <set>

#include "base/error.h"
#include "base/text.h"

namespace dnn::tensorflow {
namespace {

const IrrelevantFields& irrelevant_attributes() {
  static const IrrelevantFields rows = {
#define DNN_TENSORFLOW_ATTRIBUTE(owners, name, values, reason) {owners, name, values, reason},
#define DNN_TENSORFLOW_HARMLESS(name, reason)
#include "formats/tensorflow/irrelevant.def"
  };
  return rows;
}

// Short values as text, as rows of irrelevant.def have them; "" for others.
std::string printed(const AttrValue& value) {
  switch (value.value_case()) {
    case AttrValue::kI: return cat(value.i());
    case AttrValue::kF: return exact_text(value.f());
    case AttrValue::kB: return value.b() ? "true" : "false";
    case AttrValue::kS: return value.s().empty() ? "\"\"" : value.s();
    case AttrValue::kPlaceholder: return "$" + value.placeholder();
    case AttrValue::kFunc: return value.func().name();
    case AttrValue::kList:
      if (value.list().ByteSizeLong() == 0) return "[]";
      if (value.list().i_size() > 0)
        return cat("[", join(std::vector<int64_t>(value.list().i().begin(), value.list().i().end()), ","), "]");
      return "[...]";
    default: return "";
  }
}

}  // namespace

NodeFields::NodeFields(const std::string& owner, const AttributeMap& attributes)
    : owner_(owner), attributes_(attributes) {
  for (const auto& [key, value] : attributes) leftovers_.add(key);
}

const AttrValue* NodeFields::take(const std::string& key) const {
  leftovers_.use(key);
  const auto found = attributes_.find(key);
  return found == attributes_.end() ? nullptr : &found->second;
}

const AttrValue* NodeFields::take(const std::string& key, AttrValue::ValueCase wanted) const {
  const AttrValue* value = take(key);
  if (value == nullptr || value->value_case() == wanted) return value;
  if (value->value_case() == AttrValue::kPlaceholder)
    fail_unsupported("attribute ", key, " is what the function's caller says, which is not read");
  fail_malformed("attribute ", key, " is of another type than it should be");
}

void NodeFields::finish(const IgnoredFields& ignored) const {
  if (leftovers_.left().empty()) return;
  const auto value = [&](const std::string& name) { return printed(attributes_.at(name)); };
  Leftovers left = leftovers_;
  left.irrelevant(owner_, irrelevant_attributes(), value);
  left.ignore(owner_, ignored);
  left.finish("", "attribute", value);
}

bool is_harmless(const NodeDef& node) {
  static const std::set<std::string> names = {
#define DNN_TENSORFLOW_ATTRIBUTE(owners, name, values, reason)
#define DNN_TENSORFLOW_HARMLESS(name, reason) #name,
#include "formats/tensorflow/irrelevant.def"
  };
  if (names.count(node.op()) == 0) return false;
  const auto stream = node.attr().find("output_stream");  // PrintV2's, which may be a file
  return stream == node.attr().end() || !starts_with(stream->second.s(), "file:");
}

}  // namespace dnn::tensorflow
