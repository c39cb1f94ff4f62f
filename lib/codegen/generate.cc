// From an optimised graph to a package; see generate.h.
#include "codegen/generate.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "base/sha256.h"
#include "codegen/memory_plan.h"
#include "codegen/narrow_values.h"
#include "codegen/parts.h"
#include "codegen/print.h"
#include "codegen/reduced_floats.h"
#include "codegen/samples.h"
#include "codegen/schedule.h"
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

// Constants as kernels read them: one for each value and layout, whichever targets ask for it.
class Packed {
 public:
  explicit Packed(const Graph& graph) : graph_(graph) {}
  int64_t index_of(ValueId id, const loops::Layout& layout, DType dtype) {
    auto [entry, fresh] = index_.try_emplace({id, layout.text(), dtype}, static_cast<int64_t>(constants_.size()));
    if (fresh) {
      const Tensor arranged = convert(graph_.constant(id)->arranged_copy(), dtype);  // the graph keeps its own as it is
      constants_.push_back(layout.row_major() ? arranged : loops::pack(arranged, layout));
    }
    return entry->second;
  }
  // Whether numbers of `dtype` are all that a constant holds.
  bool fits(ValueId id, DType dtype) {
    auto [entry, fresh] = fits_.try_emplace({id, dtype}, false);
    if (fresh) {
      const Tensor arranged = graph_.constant(id)->arranged_copy();
      entry->second = arranged.identical(convert(convert(arranged, dtype), arranged.dtype()));
    }
    return entry->second;
  }
  Constants take() { return std::move(constants_); }

 private:
  const Graph& graph_;
  Constants constants_;
  std::map<std::tuple<ValueId, std::string, DType>, int64_t> index_;
  std::map<std::pair<ValueId, DType>, bool> fits_;
};

// What lies in an arena: the batch's, or a sample's own.
struct Life {
  Lifetime steps;
  Argument::Kind kind;
  int64_t at = 0;
  std::set<size_t> segments = {};  // whose steps use it
};

Kernel scheduled(const Kernel& kernel, const std::set<const loops::Buffer*>& packable, const ScheduleOptions& options) {
  return options.target.isa->gpu ? schedule_gpu(kernel, packable, options) : schedule_cpu(kernel, packable, options);
}

const Vocabulary& vocabulary_of(const Isa& isa) {
  switch (isa.language) {
    case Language::C: return c_vocabulary(isa.architecture);
    case Language::OpenCl: return opencl_vocabulary();
    case Language::Cuda: return cuda_vocabulary();
    case Language::None: break;
  }
  fail_internal("kernels are printed for a device that interprets");
}

class Generator {
 public:
  Generator(const Graph& graph, const GenerateOptions& options, const Target& target, Packed& packed,
            const Segments& segments)
      : graph_(graph), options_(options), target_(target), packed_(packed), segments_(segments) {
    if (target.takes_samples_alone() && segments.empty()) samples_ = find_samples(graph);
    if (const auto chosen = options.schedules.find(target.isa->name); chosen != options.schedules.end())
      chosen_ = chosen->second;
  }

  Generated run() {
    result_.variant.target = {target_.backend()->name, target_.isa->name, {}, target_.processor->name};
    result_.variant.values.resize(graph_.value_count());
    place_values();
    if (target_.has_views()) find_parts_in_place();
    if (target_.uses_dot()) keep_narrow();
    for (NodeId id : graph_.order()) {
      visit(id);
      keep_outputs(id);
    }
    plan_arena();
    return std::move(result_);
  }

 private:
  // A kernel's buffers of float32 that memory has in 16 bits, and constants that it may have so, by name.
  struct Narrow {
    std::vector<std::string> names;
    std::set<std::string> factors;
  };

  static constexpr int64_t kUnplanned = -1;
  // Of constants in 16 bits: the fewest elements, and the most products that each takes part in.
  static constexpr double kLeastNarrow = 1 << 14, kMostProducts = 8;

  const loops::Layout& layout_of(ValueId id) {
    auto [entry, fresh] = layouts_.try_emplace(id);
    if (fresh) entry->second = loops::Layout::parse(graph_.value(id).layout);
    return entry->second;
  }

  bool fixed(ValueId id) const {
    const Type& type = graph_.value(id).type;
    return type.fixed() && type.dtype != DType::String && dtype_size(type.dtype) > 0;
  }

  // The graph in which a node computes: of one sample where it takes samples one by one.
  const Graph& graph_of(NodeId id) const { return samples_.sampled(id) ? samples_.one : graph_; }

  int64_t bytes_of(const Graph& graph, ValueId id) {
    return layout_of(id).element_count(graph.value(id).type.fixed_shape()) * element_bytes(id);
  }

  // In memory.
  DType stored_type(ValueId id) const { return narrow_.count(id) != 0 ? target_.element : graph_.value(id).type.dtype; }
  int64_t element_bytes(ValueId id) const { return static_cast<int64_t>(dtype_size(stored_type(id))); }

  // Dot products read pairs of 16 bits out of memory.
  void keep_narrow() {
    narrow_ = narrow_values(graph_, parts_, target_.element);
    for (ValueId v : narrow_) result_.variant.values[v].dtype = target_.element;
  }

  // Values lie within others of one sample; of the batch only where all nodes take it at once: one that mixes samples, and may do so
  // by where its values lie, must be a step between runs, which samples wait for.
  void find_parts_in_place() {
    const auto is_inner = [&](ValueId v) { return v == kNoValue || samples_.inner.count(v) != 0; };
    const auto all_inner = [&](NodeId id) {
      const Node& node = graph_.node(id);
      return std::all_of(node.outputs.begin(), node.outputs.end(), is_inner) &&
             std::all_of(node.inputs.begin(), node.inputs.end(),
                         [&](ValueId v) { return is_inner(v) || graph_.constant(v) != nullptr; });
    };
    const int64_t align = target_.isa->gpu ? kArenaAlign : 1;  // there each is a sub-buffer
    parts_ = samples_.runs.empty() ? find_parts(graph_, align) : find_parts(samples_.one, align, all_inner);
  }

  // Inputs and outputs are the caller's memory, constants the package's, the rest lies in the arena or, where shapes are
  // not known before the run, in slots.
  void place_values() {
    std::vector<Placement>& places = result_.variant.values;
    auto place = [&](ValueId id, Argument::Kind kind, int64_t at) {
      Placement& placement = places[id];
      if (placement.where.kind == Argument::Kind::None) placement = {{kind, at, id}, graph_.value(id).layout};
    };
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      place(graph_.inputs[i], Argument::Kind::Input, static_cast<int64_t>(i));
    for (NodeId node : graph_.order()) {
      for (ValueId id : graph_.node(node).outputs) {
        if (id == kNoValue || graph_.constant(id) != nullptr) continue;
        const auto output = std::find(graph_.outputs.begin(), graph_.outputs.end(), id);
        if (output != graph_.outputs.end() && fixed(id) && graph_.value(id).layout.empty()) {
          place(id, Argument::Kind::Output, output - graph_.outputs.begin());
        } else if (fixed(id)) {
          place(id, samples_.inner.count(id) != 0 ? Argument::Kind::Sample : Argument::Kind::Arena, kUnplanned);
        } else {
          place(id, Argument::Kind::Slot, result_.variant.slots++);
        }
      }
    }
  }

  // The value as an argument of a step; constants are added to the package in the layout and of the type asked for.
  Argument argument(ValueId id, const loops::Layout& layout) {
    return argument(id, layout, graph_.value(id).type.dtype);
  }
  Argument argument(ValueId id, const loops::Layout& layout, DType dtype) {
    if (id == kNoValue) return {};
    if (graph_.constant(id) != nullptr && !graph_.is_input(id))
      return {Argument::Kind::Constant, constant(id, layout, dtype), id};
    return result_.variant.values[id].where;
  }

  int64_t constant(ValueId id, const loops::Layout& layout, DType dtype) {
    const int64_t index = packed_.index_of(id, layout, dtype);
    if (layout.row_major() && dtype == graph_.value(id).type.dtype)
      result_.variant.values[id] = {{Argument::Kind::Constant, index, id}, ""};
    return index;
  }

  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    if (parts_.idle.count(id) != 0) return;
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr) {
      fail_unsupported(label_in(graph_, node), ": operator ", node.domain.empty() ? "" : node.domain + ".", node.op,
                       " is not supported (see dnn-convert --list-ops)");
    }
    const bool all_fixed = std::all_of(node.inputs.begin(), node.inputs.end(),
                                       [&](ValueId v) { return v == kNoValue || compilable(v); }) &&
                           std::all_of(node.outputs.begin(), node.outputs.end(),
                                       [&](ValueId v) { return v == kNoValue || compilable(v); });
    if (op->lower != nullptr && all_fixed && lower(id)) return;
    for (ValueId v : node.outputs) {
      if (v != kNoValue && !graph_.value(v).layout.empty())
        fail_internal(node.label(), ": an interpreted node makes a laid-out value");
    }
    Step step;
    step.node = id;
    for (ValueId v : node.inputs) step.arguments.push_back(argument(v, {}));
    for (ValueId v : node.outputs) step.arguments.push_back(argument(v, {}));
    // What its subgraphs capture must live as long as it runs.
    for (ValueId v : captured_values(graph_, node)) step.arguments.push_back(argument(v, {}));
    add_step(std::move(step));
  }

  // A trace shows a node's outputs after its last step: until then nothing else may take their memory, used or not.
  void keep_outputs(NodeId id) {
    for (ValueId v : graph_.node(id).outputs) {
      const auto part = parts_.of.find(v);
      const auto life = lives_.find(part == parts_.of.end() ? v : part->second.whole);
      if (life != lives_.end())
        life->second.steps.last = std::max(life->second.steps.last, static_cast<int>(result_.variant.steps.size()) - 1);
    }
  }

  bool compilable(ValueId id) const { return fixed(id) && loops::has_arithmetic(graph_.value(id).type.dtype); }

  bool lower(NodeId id) {
    const Graph& graph = graph_of(id);
    const Node& node = graph.node(id);
    LowerContext context = lower_node(graph, node);
    if (context.stages.empty()) return false;
    std::map<std::string, ValueId> values;  // by buffer name
    std::set<const loops::Buffer*> packable;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue || context.inputs[i] == nullptr) continue;
      values[context.inputs[i]->name] = v;
      if (graph_.constant(v) != nullptr && !graph_.is_input(v)) packable.insert(context.inputs[i].get());
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v == kNoValue) continue;
      values[context.outputs[i]->name] = v;
      if (context.outputs[i]->layout.has_halo()) clear_border(id, v, context.outputs[i]);
    }
    const Argument::Kind own = samples_.sampled(id) ? Argument::Kind::Sample : Argument::Kind::Arena;
    std::map<std::string, int> temporaries;
    for (const BufferRef& t : context.temporaries) {
      const int64_t bytes = t->layout.element_count(t->shape) * static_cast<int64_t>(dtype_size(t->dtype));
      temporaries[t->name] = static_cast<int>(temporary_.size());
      temporary_.push_back({{bytes, -1, -1}, own});
    }
    for (LowerContext::Stage& stage : context.stages) {
      Kernel kernel;
      kernel.pattern = stage.pattern;
      kernel.comment = comment(graph, node, stage.pattern);
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
      Step step;
      step.node = id;
      step.flops = context.stages.size() == 1 || &stage == &context.stages.back() ? node_flops(graph, node) : 0;
      kernel = schedule(std::move(kernel), packable, step.flops, narrow_buffers_of(values, packable, step.flops));
      for (const BufferRef& b : kernel.arguments) {
        auto value = values.find(b->name);
        if (value == values.end()) {
          step.arguments.push_back({own, -2 - temporaries.at(b->name), kNoValue});
        } else {
          step.arguments.push_back(argument(value->second, b->layout, b->dtype));
        }
        step.bytes +=
            static_cast<double>(b->layout.element_count(b->shape)) * static_cast<double>(dtype_size(b->dtype));
      }
      step.kernel = intern(std::move(kernel));
      add_step(std::move(step));
    }
    return true;
  }

  // Those of a kernel's buffers that are kept in the 16 bits of the target's element type: values that narrow_values() names, and large
  // constants that are read from memory for few products each. To widen them costs time, which more products have no memory to wait for.
  Narrow narrow_buffers_of(const std::map<std::string, ValueId>& values, const std::set<const loops::Buffer*>& packable,
                           double flops) {
    Narrow result;
    std::vector<std::string>& names = result.names;
    for (const auto& [name, v] : values) {
      if (narrow_.count(v) != 0) names.push_back(name);
    }
    const std::vector<DType>& can = target_.isa->narrow;
    if (std::find(can.begin(), can.end(), target_.element) == can.end()) return result;
    for (const loops::Buffer* b : packable) {
      const ValueId v = values.at(b->name);
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
    std::vector<loops::Stmt> parts;
    const size_t rank = y->shape.size();
    int64_t fill = 0;
    if (is_integer(y->dtype)) {
      if (!uses_) uses_.emplace(graph_);
      fill = border_of(graph_, *uses_, v).value_or(0);
    }
    std::vector<loops::Expr> at;
    for (size_t axis = 0; axis < rank; ++axis) at.push_back(loops::variable(cat("d", axis)));
    // Axis by axis: the elements below and above it, over all of the axes after it (borders included) and the inside of
    // those before it.
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t low = y->layout.halo_low(static_cast<int>(axis)),
                    high = y->layout.halo_high(static_cast<int>(axis));
      for (const auto& [begin, count] : {std::pair(-low, low), std::pair(y->shape[axis], high)}) {
        if (count == 0) continue;
        std::vector<loops::Expr> index = at;
        index[axis] = at[axis] + begin;
        for (size_t later = axis + 1; later < rank; ++later)
          index[later] = at[later] - y->layout.halo_low(static_cast<int>(later));
        loops::Stmt body = loops::store(y, index, loops::constant_int(y->dtype, fill));
        // A blocked axis innermost: its elements lie side by side.
        std::vector<size_t> order(rank);
        std::iota(order.begin(), order.end(), 0);
        std::stable_partition(order.begin(), order.end(),
                              [&](size_t a) { return y->layout.block_of(static_cast<int>(a)) == 1; });
        for (size_t i = rank; i-- > 0;) {
          const size_t a = order[i];
          const int extra = static_cast<int>(a);
          const int64_t extent = a < axis    ? y->shape[a]
                                 : a == axis ? count
                                             : y->shape[a] + y->layout.halo_low(extra) + y->layout.halo_high(extra);
          body = loops::loop(cat("d", a), extent, std::move(body));
        }
        parts.push_back(std::move(body));
      }
    }
    Kernel kernel;
    kernel.pattern = "border";
    kernel.comment = (fill == 0 ? "zero border of " : "border of ") + graph_of(id).value(v).type.text() + " layout " +
                     y->layout.text();
    kernel.arguments = {y};
    kernel.body = loops::block(std::move(parts));
    Step step;
    step.node = id;
    step.arguments.push_back(argument(v, y->layout));
    Narrow narrow;
    if (narrow_.count(v) != 0) narrow.names.push_back(y->name);
    step.kernel = intern(schedule(std::move(kernel), {}, 0, narrow));
    add_step(std::move(step));
  }

  // Named by what it computes, which is its text before scheduling, whatever the instruction set and the schedule.
  Kernel schedule(Kernel kernel, const std::set<const loops::Buffer*>& packable, double flops,
                  const Narrow& narrow) const {
    std::string lowered = loops::to_text(kernel);
    for (const BufferRef& b : kernel.arguments) lowered += packable.count(b.get()) != 0 ? " packable " + b->name : "";
    for (const std::string& name : narrow.names) lowered += cat(" ", dtype_name(target_.element), " ", name);
    for (const std::string& name : narrow.factors) lowered += cat(" factor ", name);
    kernel.name = kernel.pattern + "_" + sha256_hex(as_bytes(lowered)).substr(0, 12);
    if (options_.on_workload && kernel_index_.count(kernel.name) == 0) {
      options_.on_workload(
          {kernel.name, kernel.comment, flops,
           [kernel, packable, narrow, target = target_](const ScheduleParameters& p) {
             return print_kernel(in_memory(kernel, packable, {target, p}, narrow), vocabulary_of(*target.isa));
           }});
    }
    ScheduleOptions schedule = {target_};
    if (const auto chosen = chosen_.find(kernel.name); chosen != chosen_.end()) {
      schedule.parameters = chosen->second;
      kernel.comment += " " + to_text(chosen->second);
    }
    return in_memory(kernel, packable, std::move(schedule), narrow);
  }

  // Scheduled, and with buffers as memory has them.
  static Kernel in_memory(const Kernel& kernel, const std::set<const loops::Buffer*>& packable, ScheduleOptions options,
                          const Narrow& narrow) {
    options.narrow.insert(narrow.names.begin(), narrow.names.end());
    options.factors = narrow.factors;
    return narrow_buffers(scheduled(kernel, packable, options), narrow.names, options.target.element);
  }

  static std::string comment(const Graph& graph, const Node& node, const std::string& pattern) {
    std::vector<std::string> types;
    for (ValueId v : node.inputs) types.push_back(v == kNoValue ? "-" : graph.value(v).type.text());
    std::vector<std::string> outputs;
    for (ValueId v : node.outputs) outputs.push_back(v == kNoValue ? "-" : graph.value(v).type.text());
    return node.op + " (" + pattern + "): " + join(types, " ") + " -> " + join(outputs, " ");
  }

  // Kernels that compute the same, as their names say, are one.
  int32_t intern(Kernel kernel) {
    auto [entry, fresh] = kernel_index_.try_emplace(kernel.name, static_cast<int32_t>(result_.kernels.size()));
    if (fresh) {
      result_.variant.kernels.push_back({kernel.name, kernel.pattern});
      result_.kernels.push_back(std::move(kernel));
    }
    return entry->second;
  }

  void add_step(Step step) {
    const int now = static_cast<int>(result_.variant.steps.size());
    if (samples_.sampled(step.node)) {
      step.samples = samples_.count;
      step.flops *= static_cast<double>(samples_.count);
      step.bytes *= static_cast<double>(samples_.count);
    }
    for (const Argument& a : step.arguments) {
      if (step.samples > 1) step.strides.push_back(stride_of(a));
      if (a.kind != Argument::Kind::Arena && a.kind != Argument::Kind::Sample) continue;
      Life& life = life_of(a);
      if (life.steps.first < 0) life.steps.first = now;
      life.steps.last = now;
      if (!segments_.empty()) life.segments.insert(segments_.of[step.node]);
    }
    result_.variant.steps.push_back(std::move(step));
  }

  // Bytes from a sample's part of an argument to the next one's.
  int64_t stride_of(const Argument& a) {
    if (a.value == kNoValue || a.kind == Argument::Kind::Sample || samples_.divided.count(a.value) == 0) return 0;
    return bytes_of(graph_, a.value) / samples_.count;
  }

  Life& life_of(const Argument& a) {
    if (a.value == kNoValue) return temporary_[-2 - a.at];
    const auto part = parts_.of.find(a.value);
    const ValueId value = part == parts_.of.end() ? a.value : part->second.whole;
    const Graph& graph = a.kind == Argument::Kind::Sample ? samples_.one : graph_;
    return lives_.try_emplace(value, Life{{bytes_of(graph, value), -1, -1}, a.kind}).first->second;
  }

  void plan_arena() {
    Variant& variant = result_.variant;
    const int end = static_cast<int>(variant.steps.size());
    for (ValueId id : graph_.outputs) {  // a laid-out or repeated output is copied out at the end
      if (auto life = lives_.find(id); life != lives_.end()) life->second.steps.last = end;
    }
    std::vector<Life*> all;
    for (Life& life : temporary_) all.push_back(&life);
    for (auto& [id, life] : lives_) all.push_back(&life);
    // Of what a run of sampled steps reads and writes other samples have a use until it ends, and from its beginning.
    for (int first = 0, last = 0; first < end; first = last + 1) {
      for (last = first; variant.joins_next(last);) ++last;
      for (Life* life : all) {
        if (life->kind == Argument::Kind::Sample || life->steps.first > last || life->steps.last < first) continue;
        life->steps.first = std::min(life->steps.first, first);
        life->steps.last = std::max(life->steps.last, last);
      }
    }
    plan(all, Argument::Kind::Arena, &variant.arena_bytes);
    plan(all, Argument::Kind::Sample, &variant.sample_arena_bytes);
    for (const auto& [id, life] : lives_) variant.values[id].where.at = life.at;
    for (const auto& [id, part] : parts_.of) {
      variant.values[id].where.at = variant.values[part.whole].where.at + part.element * element_bytes(id);
    }
    for (Step& step : variant.steps) {
      for (Argument& a : step.arguments) {
        if (a.kind != Argument::Kind::Arena && a.kind != Argument::Kind::Sample) continue;
        a.at = a.value == kNoValue ? temporary_[-2 - a.at].at : variant.values[a.value].where.at;
      }
    }
  }

  // Whether each segment that uses the one is done before any begins that uses the other.
  bool all_before(const Life& one, const Life& other) const {
    return std::all_of(one.segments.begin(), one.segments.end(), [&](size_t a) {
      return std::all_of(other.segments.begin(), other.segments.end(), [&](size_t b) {
        return a == b ? one.steps.last < other.steps.first : segments_.before[a][b];
      });
    });
  }

  void plan(const std::vector<Life*>& all, Argument::Kind kind, int64_t* bytes) const {
    std::vector<Lifetime> lifetimes;
    std::vector<const Life*> lives;
    for (const Life* life : all) {
      if (life->kind != kind) continue;
      lifetimes.push_back(life->steps);
      lives.push_back(life);
    }
    std::function<bool(size_t, size_t)> apart;
    if (!segments_.empty())
      apart = [&](size_t a, size_t b) { return all_before(*lives[a], *lives[b]) || all_before(*lives[b], *lives[a]); };
    const std::vector<int64_t> offsets = plan_memory(lifetimes, bytes, apart);
    size_t next = 0;
    for (Life* life : all) {
      if (life->kind == kind) life->at = offsets[next++];
    }
  }

  const Graph& graph_;
  const GenerateOptions& options_;
  const Target& target_;
  Packed& packed_;
  const Segments& segments_;
  std::map<std::string, ScheduleParameters> chosen_;  // by kernel
  Generated result_;
  std::map<ValueId, loops::Layout> layouts_;
  std::map<std::string, int32_t> kernel_index_;
  std::map<ValueId, Life> lives_;
  std::vector<Life> temporary_;
  std::optional<Uses> uses_;
  Parts parts_;
  Samples samples_;
  std::set<ValueId> narrow_;  // values that lie in memory in the target's element type
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
  Packed packed(graph);
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
  Packed packed(graph);
  for (const Kernel& kernel : Generator(graph, options, target, packed, {}).run().kernels)
    text += loops::to_text(kernel) + "\n";
  return text;
}

}  // namespace dnn::codegen
