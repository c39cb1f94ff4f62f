// Edits: what brings a target network back to its source, said in names of both, so that it can be read, kept and made again.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "localize/segments.h"

namespace dnn {

// A value of both networks, by name; how the target's becomes the source's, and their extents (a batch of one).
struct CommonValue {
  std::string source, target;
  AxisOrder order;
  Shape source_shape, target_shape;
  bool operator==(const CommonValue&) const = default;
};

struct Edit {
  // Quantised: a "scale", "zero point" or "axis" of a QuantizeLinear or DequantizeLinear, which has these numbers; "integers", of which
  // rows (of outputs) are quantised from the source's constant again, with these numbers added; or the "order" of integers: of their
  // axes, as of a constant, those that are then read from behind (numbers), and of rows. Constant: an input of a node, from the source's node. Attribute: one of a node. Layers: what makes a value, in place of the
  // nodes that made it. Preprocess: what the model says of its preprocessing. Classes: the order of the first output's classes. Skip:
  // what reads a value of the target reads another, which is in front of it, so that the nodes between are left out.
  enum class Kind : uint8_t { Constant, Attribute, Layers, Preprocess, Classes, Skip, Quantised };
  Kind kind = Kind::Constant;
  // The values that the two nodes make first; of Layers, the two that `output` names.
  std::string source, target;
  bool folded = false;       // the source's node as it is with batch norms folded into it
  bool all_folded = false;   // and whatever else fold_into_layers() does
  size_t input = 0;          // of a constant, in both nodes
  std::vector<size_t> perm;  // of a constant: axis i of the target's is axis perm[i] of the source's; empty: as it is
  std::string key;  // of an attribute; of Preprocess its JSON, as the metadata holds it; of Skip the value that is read
  std::vector<double> numbers;  // of Quantised
  std::vector<size_t> rows;
  std::vector<double> divided,
      multiplied;  // of "integers": the source's rows and columns, as the target's quantiser scaled them; empty: by 1
  std::vector<size_t> classes;  // of Classes: class c is what was class classes[c]
  CommonValue output;           // of Layers, and the values that they are computed from
  std::vector<CommonValue> inputs;
  // Of Layers in a quantised target: constants of the source that the target holds as integers, and what makes numbers of them.
  std::vector<std::pair<std::string, std::string>> held;
  std::vector<std::string>
      in_float;  // what layers make whose integers the target has lost, and which compute in float32
  bool operator==(const Edit&) const = default;
};

// A source network, as edits read it.
class EditSource {
 public:
  explicit EditSource(const Graph& graph) : graph_(graph) {}
  const Graph& graph(bool folded, bool all = false);

 private:
  const Graph& graph_;
  std::optional<Graph> folded_, all_folded_;
};

// Makes the edits, in the target's own precision: weights that it keeps as float16 or as integers of a scale become that. Types of
// values that nodes make are forgotten, since a wrong layer's may be wrong. Throws Usage naming a value that is not there,
// Unsupported where the target has no room for what the source has, Malformed where no network comes of it.
void apply_edits(const std::vector<Edit>& edits, EditSource& source, Graph& target);

// Whether two shapes are the same but for extents of 1.
bool same_extents(const Shape& a, const Shape& b);

// The constant behind an input: its own, through Identity and Cast; kNoValue for a computed one.
ValueId constant_behind(const Graph& graph, const Uses& uses, ValueId value);

// One line, for people.
std::string edit_text(const Edit& edit);

// {"edits": [...]}, and back. Throws Malformed naming `what`.
std::string edits_json(const std::vector<Edit>& edits);
std::vector<Edit> parse_edits(std::string_view text, const std::string& what);

}  // namespace dnn
