// From an optimised graph to a package; see generate.h.
#include "codegen/generate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "codegen/arena.h"
#include "codegen/border_kernel.h"
#include "codegen/kernel_set.h"
#include "codegen/narrow_values.h"
#include "codegen/packed_constants.h"
#include "codegen/parts.h"
#include "codegen/print.h"
#include "codegen/samples.h"
#include "codegen/saturated_bytes.h"
#include "codegen/segments.h"
#include "graph/locate.h"
#include "loops/steps.h"
#include "ops/border.h"
#include "ops/elementwise.h"
#include "ops/lowering.h"

namespace dnn::codegen {
namespace {

using loops::BufferRef;
using loops::Kernel;

// Every pass through the generator is for one target.
struct Generated {
  std::vector<Kernel> kernels;  // distinct, in first-use order
  Variant variant;              // without code
};

// Constants in 16 bits: the fewest elements, and the most products that each takes part in.
constexpr double kLeastNarrow = 1 << 14, kMostProducts = 8;

// Until the arena is planned, the place of values in it.
constexpr int64_t kUnplanned = -1;

bool has_fixed_size(const Graph& graph, ValueId id) {
  const Type& type = graph.value(id).type;
  return type.fixed() && type.dtype != DType::String && dtype_size(type.dtype) > 0;
}

// Values lie within others of one sample; of the batch only where all nodes take it at once: one that mixes samples, and may do so
// by where its values lie, must be a step between runs, which samples wait for.
Parts parts_in_place(const Graph& graph, const Samples& samples, const Target& target) {
  const auto is_inner = [&](ValueId v) { return v == kNoValue || samples.inner.count(v) != 0; };
  const auto all_inner = [&](NodeId id) {
    const Node& node = graph.node(id);
    return std::all_of(node.outputs.begin(), node.outputs.end(), is_inner) &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId v) { return is_inner(v) || graph.constant(v) != nullptr; });
  };
  const int64_t align = target.isa->gpu ? kArenaAlign : 1;  // there each is a sub-buffer
  return samples.runs.empty() ? find_parts(graph, align) : find_parts(samples.one, align, all_inner);
}

// Inputs and outputs are the caller's memory, constants the package's, the rest lies in the arena or, where shapes are
// not known before the run, in slots.
void place_values(const Graph& graph, const Samples& samples, Variant* variant) {
  variant->values.resize(graph.value_count());
  const auto place = [&](ValueId id, Argument::Kind kind, int64_t at) {
    Placement& placement = variant->values[id];
    if (placement.where.kind == Argument::Kind::None) placement = {{kind, at, id}, graph.value(id).layout};
  };
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    place(graph.inputs[i], Argument::Kind::Input, static_cast<int64_t>(i));
  for (NodeId node : graph.order()) {
    for (ValueId id : graph.node(node).outputs) {
      if (id == kNoValue || graph.constant(id) != nullptr) continue;
      const auto output = std::find(graph.outputs.begin(), graph.outputs.end(), id);
      if (output != graph.outputs.end() && has_fixed_size(graph, id) && graph.value(id).layout.empty()) {
        place(id, Argument::Kind::Output, output - graph.outputs.begin());
      } else if (has_fixed_size(graph, id)) {
        place(id, samples.inner.count(id) != 0 ? Argument::Kind::Sample : Argument::Kind::Arena, kUnplanned);
      } else {
        place(id, Argument::Kind::Slot, variant->slots++);
      }
    }
  }
}

std::string comment(const Graph& graph, const Node& node, const std::string& pattern) {
  const auto types = [&](const std::vector<ValueId>& values) {
    std::vector<std::string> result;
    for (ValueId v : values) result.push_back(v == kNoValue ? "-" : graph.value(v).type.text());
    return join(result, " ");
  };
  return node.op + " (" + pattern + "): " + types(node.inputs) + " -> " + types(node.outputs);
}

// A stage's kernel as lowered: what it stores comes first among the arguments.
Kernel kernel_of(LowerContext::Stage stage, const std::string& comment) {
  Kernel kernel;
  kernel.pattern = stage.pattern;
  kernel.comment = comment;
  kernel.body = std::move(stage.body);
  std::set<const loops::Buffer*> listed;
  for (const bool stores : {true, false}) {
    for (const loops::Access& access : loops::accesses(kernel.body)) {
      if (access.buffer->scope == loops::Scope::Global && access.is_store == stores &&
          listed.insert(access.buffer.get()).second) {
        kernel.arguments.push_back(access.buffer);
      }
    }
  }
  return kernel;
}

// The values and temporaries that a node's kernels name.
struct Bindings {
  std::map<std::string, ValueId> values;  // by buffer name
  std::map<std::string, Argument> temporaries;
  std::set<const loops::Buffer*> packable;
};

// A quantised network, whose bits levels share where they are no sums of many real products.
bool computes_on_integers(const Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const Node& head = *head_of(graph.node(id)).node;
    return head.domain == kInternalDomain && (head.op == "QuantizedConv" || head.op == "QuantizedMatMul" ||
                                              head.op == "ToReal" || head.op == "ToInteger");
  });
}

bool sums_products(const Kernel& kernel) {
  return kernel.pattern == "conv" || kernel.pattern == "matmul" || kernel.pattern == "winograd";
}

class Generator {
 public:
  Generator(const Graph& graph, const GenerateOptions& options, const Target& target, PackedConstants& packed,
            const Segments& segments)
      : graph_(graph), target_(target), packed_(packed), kernels_(options, target), arena_(parts_, segments) {
    if (target.takes_samples_alone() && segments.empty()) samples_ = find_samples(graph);
    on_integers_ = options.share_bits || computes_on_integers(graph);
  }

  Generated run() {
    variant_.target = {target_.backend()->name, target_.isa->name, {}, target_.processor->name};
    place_values(graph_, samples_, &variant_);
    if (target_.has_views()) parts_ = parts_in_place(graph_, samples_, target_);
    if (target_.uses_dot()) keep_narrow();
    if (target_.multiplies_halves_exactly()) exact_ = narrow_values(graph_, parts_, target_.element);
    for (NodeId id : graph_.order()) {
      visit(id);
      // A trace shows a node's outputs after its last step: until then nothing else may take their memory, used or not.
      for (ValueId v : graph_.node(id).outputs) arena_.keep(arena_.whole_of(v), steps() - 1);
    }
    arena_.place(&variant_, graph_.outputs, [&](ValueId v) { return element_bytes(v); });
    Generated result = {kernels_.take(), std::move(variant_)};
    for (const Kernel& kernel : result.kernels) result.variant.kernels.push_back({kernel.name, kernel.pattern});
    return result;
  }

 private:
  int steps() const { return static_cast<int>(variant_.steps.size()); }

  const loops::Layout& layout_of(ValueId id) {
    auto [entry, fresh] = layouts_.try_emplace(id);
    if (fresh) entry->second = loops::Layout::parse(graph_.value(id).layout);
    return entry->second;
  }

  bool is_constant(ValueId id) const { return graph_.constant(id) != nullptr && !graph_.is_input(id); }

  // The graph in which a node computes: of one sample where it takes samples one by one.
  const Graph& graph_of(NodeId id) const { return samples_.sampled(id) ? samples_.one : graph_; }

  int64_t bytes_of(const Graph& graph, ValueId id) {
    return layout_of(id).element_count(graph.value(id).type.fixed_shape()) * element_bytes(id);
  }

  // In memory.
  int64_t element_bytes(ValueId id) const {
    const DType stored = narrow_.count(id) != 0 ? target_.element : graph_.value(id).type.dtype;
    return static_cast<int64_t>(dtype_size(stored));
  }

  // Where that helps the target, true for float32 numbers that are all of its element type.
  bool is_exact(ValueId v) {
    if (!target_.multiplies_halves_exactly()) return false;
    if (!is_constant(v)) return exact_.count(v) != 0;
    return graph_.value(v).type.dtype == DType::Float32 && packed_.fits(v, target_.element);
  }

  // Dot products read pairs of 16 bits out of memory.
  void keep_narrow() {
    narrow_ = narrow_values(graph_, parts_, target_.element);
    for (ValueId v : narrow_) variant_.values[v].dtype = target_.element;
  }

  // The value as an argument of a step; constants are added to the package in the layout and of the type asked for.
  Argument argument(ValueId id, const loops::Layout& layout, DType dtype) {
    if (id == kNoValue) return {};
    if (!is_constant(id)) return variant_.values[id].where;
    const int64_t index = packed_.index_of(id, layout, dtype);
    const Argument where = {Argument::Kind::Constant, index, id};
    if (layout.row_major() && dtype == graph_.value(id).type.dtype) variant_.values[id] = {where, ""};
    return where;
  }

  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    if (parts_.idle.count(id) != 0) return;
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr) {
      fail_unsupported(label_in(graph_, node), ": operator ", node.domain.empty() ? "" : node.domain + ".", node.op,
                       " is not supported (see dnn-convert --list-ops)");
    }
    const auto compilable = [&](ValueId v) {
      return v == kNoValue || (has_fixed_size(graph_, v) && loops::has_arithmetic(graph_.value(v).type.dtype));
    };
    if (op->lower != nullptr && std::all_of(node.inputs.begin(), node.inputs.end(), compilable) &&
        std::all_of(node.outputs.begin(), node.outputs.end(), compilable) && lower(id))
      return;
    interpret(id);
  }

  void interpret(NodeId id) {
    const Node& node = graph_.node(id);
    for (ValueId v : node.outputs) {
      if (v != kNoValue && !graph_.value(v).layout.empty())
        fail_internal(node.label(), ": an interpreted node makes a laid-out value");
    }
    Step step;
    step.node = id;
    const auto add = [&](const std::vector<ValueId>& values) {
      for (ValueId v : values)
        step.arguments.push_back(v == kNoValue ? Argument() : argument(v, {}, graph_.value(v).type.dtype));
    };
    add(node.inputs);
    add(node.outputs);
    add(captured_values(graph_, node));  // must live as long as it runs
    add_step(std::move(step));
  }

  bool lower(NodeId id) {
    const Graph& graph = graph_of(id);
    const Node& node = graph.node(id);
    LowerContext context = lower_node(graph, node);
    if (context.stages.empty()) return false;
    const Bindings bound = bind(id, node, context);
    for (LowerContext::Stage& stage : context.stages) {
      const bool last = &stage == &context.stages.back();
      const std::string text = comment(graph, node, stage.pattern);
      Kernel kernel = kernel_of(std::move(stage), text);
      if (!target_.isa->gpu)
        kernel.body = saturate_bytes(kernel.body, [&](const loops::Buffer& b) { return magnitude_of(bound, b); });
      kernel.exact = on_integers_ && target_.level->contract && !sums_products(kernel);
      Step step;
      step.node = id;
      step.flops = last ? node_flops(graph, node) : 0;
      kernel = kernels_.schedule(std::move(kernel), bound.packable, step.flops, narrow_buffers_of(bound, step.flops));
      for (const BufferRef& b : kernel.arguments) {
        const auto value = bound.values.find(b->name);
        step.arguments.push_back(value == bound.values.end() ? bound.temporaries.at(b->name)
                                                             : argument(value->second, b->layout, b->dtype));
        step.bytes +=
            static_cast<double>(b->layout.element_count(b->shape)) * static_cast<double>(dtype_size(b->dtype));
      }
      step.kernel = kernels_.add(std::move(kernel));
      add_step(std::move(step));
    }
    return true;
  }

  // The largest absolute value in a buffer of float32; infinity where it is not known.
  double magnitude_of(const Bindings& bound, const loops::Buffer& buffer) {
    const auto value = bound.values.find(buffer.name);
    const bool known = value != bound.values.end() && is_constant(value->second);
    return known ? packed_.magnitude(value->second) : std::numeric_limits<double>::infinity();
  }

  // With a step before it for each output that has a border.
  Bindings bind(NodeId id, const Node& node, const LowerContext& context) {
    Bindings bound;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue || context.inputs[i] == nullptr) continue;
      bound.values[context.inputs[i]->name] = v;
      if (is_constant(v)) bound.packable.insert(context.inputs[i].get());
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v == kNoValue) continue;
      bound.values[context.outputs[i]->name] = v;
      if (context.outputs[i]->layout.has_halo()) clear_border(id, v, context.outputs[i]);
    }
    for (const BufferRef& t : context.temporaries) {
      const int64_t bytes = t->layout.element_count(t->shape) * static_cast<int64_t>(dtype_size(t->dtype));
      const Argument::Kind own = samples_.sampled(id) ? Argument::Kind::Sample : Argument::Kind::Arena;
      bound.temporaries[t->name] = arena_.temporary(bytes, own);
    }
    return bound;
  }

  // Those of a kernel's buffers that are kept in the 16 bits of the target's element type: values that narrow_values() names, and large
  // constants that are read from memory for few products each. To widen them costs time, which more products have no memory to wait for.
  NarrowBuffers narrow_buffers_of(const Bindings& bound, double flops) {
    NarrowBuffers result;
    std::vector<std::string>& names = result.names;
    for (const auto& [name, v] : bound.values) {
      if (narrow_.count(v) != 0) names.push_back(name);
      if (is_exact(v)) result.exact.insert(name);
    }
    const std::vector<DType>& can = target_.isa->narrow;
    if (std::find(can.begin(), can.end(), target_.element) == can.end()) return result;
    for (const loops::Buffer* b : bound.packable) {
      const ValueId v = bound.values.at(b->name);
      const auto size = static_cast<double>(element_count(b->shape));
      const bool streamed = size >= kLeastNarrow && flops <= 2 * size * kMostProducts;
      if (b->dtype != DType::Float32 || (!streamed && (!target_.uses_dot() || b->shape.size() < 2))) continue;
      if (!packed_.fits(v, target_.element)) continue;
      if (streamed) names.push_back(b->name);
      if (target_.uses_dot()) result.factors.insert(b->name);
    }
    std::sort(names.begin(), names.end());
    return result;
  }

  // A step that fills the border of a value's layout, of real numbers with zeros, before the step that makes the value.
  void clear_border(NodeId id, ValueId v, const BufferRef& y) {
    int64_t fill = 0;
    if (is_integer(y->dtype)) {
      if (!uses_) uses_.emplace(graph_);
      fill = border_of(graph_, *uses_, v).value_or(0);
    }
    Step step;
    step.node = id;
    step.arguments.push_back(argument(v, y->layout, graph_.value(v).type.dtype));
    NarrowBuffers narrow;
    if (narrow_.count(v) != 0) narrow.names.push_back(y->name);
    Kernel kernel = border_kernel(y, fill, graph_of(id).value(v).type.text());
    step.kernel = kernels_.add(kernels_.schedule(std::move(kernel), {}, 0, narrow));
    add_step(std::move(step));
  }

  void add_step(Step step) {
    if (samples_.sampled(step.node)) {
      step.samples = samples_.count;
      step.flops *= static_cast<double>(samples_.count);
      step.bytes *= static_cast<double>(samples_.count);
    }
    for (const Argument& a : step.arguments) {
      if (step.samples > 1) step.strides.push_back(stride_of(a));
      const Graph& graph = a.kind == Argument::Kind::Sample ? samples_.one : graph_;
      const bool lives = a.value != kNoValue && Arena::in_arena(a);
      arena_.use(a, lives ? bytes_of(graph, arena_.whole_of(a.value)) : 0, steps(), step.node);
    }
    variant_.steps.push_back(std::move(step));
  }

  // Bytes from a sample's part of an argument to the next one's.
  int64_t stride_of(const Argument& a) {
    if (a.value == kNoValue || a.kind == Argument::Kind::Sample || samples_.divided.count(a.value) == 0) return 0;
    return bytes_of(graph_, a.value) / samples_.count;
  }

  const Graph& graph_;
  const Target& target_;
  PackedConstants& packed_;
  KernelSet kernels_;
  Variant variant_;
  Samples samples_;
  Parts parts_;
  Arena arena_;
  std::map<ValueId, loops::Layout> layouts_;
  std::optional<Uses> uses_;
  std::set<ValueId> narrow_;  // values that lie in memory in the target's element type
  std::set<ValueId> exact_;   // those that could, and do not
  bool on_integers_ = false;
};

}  // namespace

Package generate(const Graph& graph, const GenerateOptions& options) { return generate(graph, options, {}); }

Package generate(const Graph& graph, const GenerateOptions& options, const Segments& segments) {
  DNN_CHECK(!options.targets.empty());
  const bool units = options.targets[0].backend()->builds_here;  // that compile apart
  const std::string define = options.fast_math ? "#define DNN_FAST_MATH\n" : "";
  const auto whole = [&](const std::vector<Kernel>& kernels, const Vocabulary& words) {
    std::string all;
    for (const Kernel& kernel : kernels) all += "\n" + print_kernel(kernel, words);
    return define + words.prelude(all) + all;
  };
  Package package;
  for (ValueId id : graph.inputs) package.input_types.push_back(graph.value(id).type);
  for (ValueId id : graph.outputs) package.output_types.push_back(graph.value(id).type);
  const auto shared = std::make_shared<const Graph>(graph);
  PackedConstants packed(graph);
  for (const Target& target : options.targets) {
    const Vocabulary& vocabulary = vocabulary_of(*target.isa);
    Generated generated = Generator(graph, options, target, packed, segments).run();
    Code& code = generated.variant.code;
    for (const Kernel& kernel : generated.kernels) {
      code.tasks.push_back(task_count(kernel));
      code.threads.push_back(thread_count(kernel));
      if (!units) continue;
      const std::string text = print_kernel(kernel, vocabulary);
      code.source += std::string(kUnitDivider) + define + vocabulary.prelude(text) + "\n" + text;
    }
    if (!units) code.source = whole(generated.kernels, vocabulary);
    if (options.on_c_text && target.isa->language == Language::C) {
      options.on_c_text({target.isa->name, whole(generated.kernels, static_c_vocabulary(true)),
                         whole(generated.kernels, static_c_vocabulary(false))});
    }
    generated.variant.graph = shared;
    package.variants.push_back(std::move(generated.variant));
  }
  package.constants = packed.take();
  return package;
}

std::string emit_loops(const Graph& graph, const GenerateOptions& options, const Target& target) {
  std::string text;
  PackedConstants packed(graph);
  for (const Kernel& kernel : Generator(graph, options, target, packed, {}).run().kernels)
    text += loops::to_text(kernel) + "\n";
  return text;
}

}  // namespace dnn::codegen
