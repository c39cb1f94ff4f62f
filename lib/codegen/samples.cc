// Which nodes run sample by sample; see samples.h.
#include "codegen/samples.h"

#include <algorithm>
#include <optional>

#include "loops/simplify.h"
#include "loops/steps.h"
#include "ops/lowering.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Bytes of weights that a node may read for each sample anew, however little it does with them, and what some node of a run makes or reads of
// a sample at least: less stays in the caches anyway, and is not worth its calls.
constexpr int64_t kFewWeights = int64_t{64} << 10, kLargeSample = int64_t{64} << 10;

// Which axis of a buffer holds the samples' parts, and the elements of a part along it.
struct SamplePart {
  size_t axis;
  int64_t extent;
  bool operator==(const SamplePart&) const = default;
};
using Parts = std::map<std::string, SamplePart>;  // by buffer name; of what is not in it every sample reads the same

// Whether a value's first extent is known and divides into so many parts.
bool divides(const Graph& graph, ValueId id, int64_t count) {
  const Type& type = graph.value(id).type;
  return type.fixed() && type.dtype != DType::String && dtype_size(type.dtype) > 0 && !type.shape->empty() &&
         type.fixed_shape()[0] > 0 && type.fixed_shape()[0] % count == 0;
}

bool holds_load(const Expr& e) { return e->op == Op::Load || std::any_of(e->args.begin(), e->args.end(), holds_load); }

// One loop nest, whose loop over `v` the samples share.
class Nest {
 public:
  Nest(const Stmt& body, const std::string& v, int64_t samples) : body_(body), v_(v), samples_(samples) {
    const int64_t step = loop_extent(body_, v_) / samples_;
    next_[v_] = variable(v_) + constant_int(DType::Int64, step);
    add_ranges(body_, &ranges_);
    first_ = ranges_;
    first_[v_].high = step - 1;
    ranges_[v_].high -= step;  // those that a sample follows
  }

  // Whether each sample makes its part of what is stored, which `parts` then says, of its parts of what is read.
  bool independent(Parts* parts) {
    Parts all = *parts;
    for (const Access& access : accesses(body_)) {
      if (!access.is_store || access.buffer->scope == Scope::Local) continue;
      const std::optional<SamplePart> part = part_of(access.indices, access.buffer->shape);
      if (!part || all.try_emplace(access.buffer->name, *part).first->second != *part) return false;
    }
    if (!reads_own(body_, all)) return false;
    *parts = all;
    return true;
  }

 private:
  static void add_ranges(const Stmt& s, Ranges* ranges) {
    if (s->kind == StmtKind::For) {
      Interval& range = ranges->try_emplace(s->variable, Interval{0, 0}).first->second;
      range.high = std::max(range.high, s->extent - 1);
    }
    for (const Stmt& child : s->children) add_ranges(child, ranges);
  }

  // By how much an index grows from one sample to the next, where that is one number.
  std::optional<int64_t> growth(const Expr& index) const {
    int64_t by = 0;
    if (!uses_variable(index, v_)) return by;
    if (!constant_value(simplify(substitute(index, next_) - index, ranges_), &by)) return std::nullopt;
    return by;
  }

  // Where an access moves along one axis alone, by a part, beginning with the first.
  std::optional<SamplePart> part_of(const std::vector<Expr>& indices, const Shape& shape) const {
    std::optional<SamplePart> found;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const std::optional<int64_t> by = growth(indices[axis]);
      if (by && *by == 0) continue;
      Interval range{};
      if (!by || found || *by * samples_ != shape[axis] || !bounds(simplify(indices[axis], first_), first_, &range) ||
          range.low < 0 || range.high >= *by) {
        return std::nullopt;
      }
      found = SamplePart{axis, *by};
    }
    return found;
  }

  bool reads_own(const Expr& e, const Parts& parts) const {
    const auto part = e->op == Op::Load ? parts.find(e->buffer->name) : parts.end();
    if (part != parts.end()) return part_of(e->args, e->buffer->shape) == part->second;
    if (e->op == Op::Variable) return e->name != v_;
    if (e->dtype == DType::Int64 && !holds_load(e)) return growth(e) == 0;
    return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& arg) { return reads_own(arg, parts); });
  }

  bool reads_own(const Stmt& s, const Parts& parts) const {
    if (s->value.defined() && !reads_own(s->value, parts)) return false;
    return std::all_of(s->children.begin(), s->children.end(),
                       [&](const Stmt& child) { return reads_own(child, parts); });
  }

  Stmt body_;
  std::string v_;
  int64_t samples_;
  std::map<std::string, Expr> next_;
  Ranges ranges_, first_;  // of all loops; first_: in the first sample
};

// A stage: each of its nests has a loop that the samples share, around all that it does.
bool independent(const Stmt& body, int64_t samples, Parts* parts) {
  if (body->kind == StmtKind::Block) {
    return std::all_of(body->children.begin(), body->children.end(),
                       [&](const Stmt& child) { return independent(child, samples, parts); });
  }
  const std::vector<std::string> nest = nest_variables(body);
  return std::any_of(nest.begin(), nest.end(), [&](const std::string& v) {
    return loop_extent(body, v) % samples == 0 && Nest(body, v, samples).independent(parts);
  });
}

class SampleFinder {
 public:
  explicit SampleFinder(const Graph& graph) : graph_(graph), uses_(graph) {}

  Samples run() {
    Samples& s = result_;
    s.count = batch();
    if (s.count < 2) return {};
    s.one = graph_;
    for (ValueId id : graph_.inputs) divide(id);
    int run = 0;
    for (NodeId id : graph_.order()) {
      if (independent_node(id) && worth_it(id)) {
        s.runs[id] = run;
      } else {
        ++run;
      }
    }
    drop_small_runs();
    if (s.runs.empty()) return {};
    find_inner();
    return std::move(result_);
  }

 private:
  int64_t batch() const {
    int64_t found = 0;
    for (ValueId id : graph_.inputs) {
      if (graph_.constant(id) != nullptr || !divides(graph_, id, 1)) return 0;
      const int64_t extent = graph_.value(id).type.fixed_shape()[0];
      if (found != 0 && extent != found) return 0;
      found = extent;
    }
    return found;
  }

  // A sample's part of the value is one run of its memory.
  bool in_runs(ValueId id) const {
    const Layout layout = Layout::parse(graph_.value(id).layout);
    const std::vector<LayoutDim> dims = layout.dims(graph_.value(id).type.fixed_shape());
    return layout.block_of(0) == 1 && layout.halo_low(0) + layout.halo_high(0) == 0 && dims[0].axis == 0;
  }

  bool can_divide(ValueId id) const { return divides(graph_, id, result_.count) && in_runs(id); }

  void divide(ValueId id) {
    if (!result_.divided.insert(id).second) return;
    Dim& first = (*result_.one.value(id).type.shape)[0];
    first = Dim(first.size / result_.count);
  }

  // Whether each sample goes through the node on its own. What a node makes may be read so even where it is not made so.
  bool independent_node(NodeId id) {
    const Node& node = graph_.node(id);
    const auto divided = [&](ValueId v) { return v != kNoValue && result_.divided.count(v) != 0; };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), divided)) return false;
    bool yes = true;
    for (ValueId v : node.inputs)
      yes = yes && (v == kNoValue || (graph_.value(v).type.fixed() && (!divided(v) || in_runs(v))));
    for (ValueId v : node.outputs) yes = yes && (v == kNoValue || can_divide(v));
    yes = yes && proven(node);
    for (ValueId v : node.outputs) {
      if (v != kNoValue && can_divide(v)) divide(v);
    }
    return yes && divide_body(id) && can_lower(result_.one, result_.one.node(id));
  }

  // The types inside of a node of several operators.
  bool divide_body(NodeId id) {
    Node& node = result_.one.node(id);
    for (auto& [name, attribute] : node.attributes) {
      auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      Graph divided = **body;
      if (divided.inputs.size() != node.inputs.size()) return false;
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] != kNoValue) divided.value(divided.inputs[i]).type = result_.one.value(node.inputs[i]).type;
      for (NodeId inside : divided.order()) {
        for (ValueId v : divided.node(inside).outputs)
          if (v != kNoValue) divided.value(v).type = {};
      }
      try {
        infer_types(divided);
      } catch (const Error&) {
        return false;  // it names the batch
      }
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (!(divided.value(divided.outputs[i]).type == result_.one.value(node.outputs[i]).type)) return false;
      *body = std::make_shared<const Graph>(std::move(divided));
    }
    return true;
  }

  bool proven(const Node& node) const {
    const LowerContext context = lower_node(graph_, node);
    if (context.stages.empty()) return false;
    Parts parts;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue || context.inputs[i] == nullptr || result_.divided.count(v) == 0) continue;
      parts[context.inputs[i]->name] = {0, context.inputs[i]->shape[0] / result_.count};
    }
    for (const LowerContext::Stage& stage : context.stages) {
      if (!independent(simplify(stage.body), result_.count, &parts)) return false;
    }
    return std::all_of(context.outputs.begin(), context.outputs.end(), [&](const BufferRef& y) {
      const auto part = y == nullptr ? parts.end() : parts.find(y->name);
      return y == nullptr || (part != parts.end() && part->second.axis == 0);
    });
  }

  int64_t bytes_of(ValueId v) const {
    const Value& value = graph_.value(v);
    return Layout::parse(value.layout).element_count(value.type.fixed_shape()) *
           static_cast<int64_t>(dtype_size(value.type.dtype));
  }

  // Of one sample.
  int64_t activations(NodeId id) const {
    int64_t bytes = 0;
    for (const std::vector<ValueId>& values : {graph_.node(id).inputs, graph_.node(id).outputs}) {
      for (ValueId v : values)
        bytes += v != kNoValue && result_.divided.count(v) != 0 ? bytes_of(v) / result_.count : 0;
    }
    return bytes;
  }

  // What a node of one sample writes and reads again between its stages.
  int64_t temporaries(NodeId id) const {
    int64_t bytes = 0;
    for (const BufferRef& t : lower_node(result_.one, result_.one.node(id)).temporaries)
      bytes += t->layout.element_count(t->shape) * static_cast<int64_t>(dtype_size(t->dtype));
    return bytes;
  }

  // A batch at once reads weights once and activations from far away; sample by sample, the other way round. What is far away and
  // written counts twice, as it is read before, or pushes out what is read.
  bool worth_it(NodeId id) const {
    int64_t weights = 0;
    for (ValueId v : graph_.node(id).inputs)
      weights += v != kNoValue && graph_.constant(v) != nullptr ? bytes_of(v) : 0;
    return weights <= std::max(kFewWeights, 2 * (activations(id) + temporaries(id)));
  }

  void drop_small_runs() {
    std::map<int, int64_t> largest;
    for (const auto& [id, run] : result_.runs) largest[run] = std::max(largest[run], activations(id));
    std::erase_if(result_.runs, [&](const auto& entry) { return largest[entry.second] < kLargeSample; });
  }

  void find_inner() {
    for (const auto& [id, run] : result_.runs) {
      for (ValueId v : graph_.node(id).outputs) {
        if (v == kNoValue || graph_.is_output(v)) continue;
        const std::vector<NodeId>& readers = uses_.readers[v];
        const bool within = std::all_of(readers.begin(), readers.end(), [&, run = run](NodeId reader) {
          const auto at = result_.runs.find(reader);
          return at != result_.runs.end() && at->second == run;
        });
        if (within) result_.inner.insert(v);
      }
    }
  }

  const Graph& graph_;
  const Uses uses_;
  Samples result_;
};

}  // namespace

Samples find_samples(const Graph& graph) { return SampleFinder(graph).run(); }

}  // namespace dnn::codegen
