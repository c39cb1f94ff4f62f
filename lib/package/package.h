// Package: a compiled model as data: a variant for each target (graph, plan, code), packed constants that variants share. One .dnnpkg
// file holds one; devices run a variant of it. See file.h for the file, schemas/package.fbs for its format.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "package/constants.h"

namespace dnn {

// How the package came to be; the same facts give the same bytes.
struct PackageInfo {
  std::string model_path;  // in a file its name alone; of an opened model the path it was opened by
  std::string model_sha256, model_format;
  int opt = 0;
  std::string compiler;             // "gcc 12.2.0", with the flags that decide bits
  std::vector<std::string> passes;  // names, in the order they ran
  std::string dtype = "float32";    // float64: a widened model
  std::string tool_version;
};

// Where a kernel finds one of its buffers.
struct Argument {
  enum class Kind : uint8_t { Arena, Constant, Input, Output, Slot, None, Sample };
  Kind kind = Kind::None;
  // Arena, Sample: byte offset, in the arena or in that of each sample; Constant, Input, Output, Slot: index.
  int64_t at = 0;
  ValueId value = kNoValue;  // the graph value it is, or kNoValue for a temporary
};

// One launch, or one node left to the interpreter.
struct Step {
  int32_t kernel = -1;              // index into Variant::kernels; -1: interpret `node`
  NodeId node = -1;                 // node of Variant::graph that this step computes (a part of)
  std::vector<Argument> arguments;  // kernel: in its argument order; interpreted: inputs, outputs, captures
  double flops = 0, bytes = 0;      // arithmetic, and memory traffic if each buffer moves once
  // Above 1: the kernel takes one sample of the batch, and is to run for each of so many. Samples may go through steps that stand side
  // by side and are all such ones in any order, each through one after the other.
  int64_t samples = 1;
  std::vector<int64_t> strides = {};  // then, by argument: bytes from a sample's part of it to the next one's
};

struct KernelInfo {
  std::string name;  // symbol in every code
  std::string pattern;
};

// In a code's source, stands before each unit: a kernel with all it needs, which is compiled apart.
inline constexpr std::string_view kUnitDivider = "\n// ---- kernel ----\n";

// In a kernel's text: it is compiled without fused multiply-adds at each level, as levels share the bits of what it stores. Devices that compile
// a text themselves do so with all of it, and divide exactly.
inline constexpr std::string_view kExactUnit = "// exact: products are rounded before they are added\n";
inline bool holds_exact_kernels(std::string_view text) { return text.find(kExactUnit) != std::string_view::npos; }

// The kernels of a variant.
struct Code {
  std::string source;
  std::string binary;            // ELF shared object; empty where the driver compiles the source
  std::vector<int64_t> tasks;    // by kernel: its parallel iterations
  std::vector<int64_t> threads;  // by kernel: that go through a task together; 0: a task has no threads of its own
  bool operator==(const Code&) const = default;
};

// A value's place and form in memory.
struct Placement {
  Argument where;
  std::string layout;              // loops::Layout text; "" row-major
  DType dtype = DType::Undefined;  // of the numbers in memory; Undefined: the value's own
};

// Constants up to this size are in every copy of a graph: shapes, scales, what a reader looks at.
inline constexpr size_t kSmallConstant = 1024;  // bytes

// Takes a large constant out of a graph: the value becomes a capture, which another part of the package holds.
void drop_constant(Graph& graph, ValueId id);

// The model that a package was made of, as it was read, with shapes bound. A file holds its nodes, types, metadata and small constants;
// the large ones, which are as many bytes as the weights that kernels read, where it was asked to keep them.
class SourceGraph {
 public:
  using Load = std::function<Graph()>;

  SourceGraph() : SourceGraph(Graph()) {}
  SourceGraph(Graph graph);
  // `structure` and `whole` are called until they return, by any thread, when they are first asked for; `whole` gives all of the graph, or
  // throws where it cannot be had or is damaged. `kept`: whether `structure` has all constants, though their bytes may be damaged, so that
  // a file of the package is to have them.
  SourceGraph(Load structure, bool kept, Load whole);
  // All of it. Throws what `whole` throws.
  const Graph& graph() const;
  // For nodes, types, metadata and small constants.
  const Graph& structure() const;
  bool kept() const { return kept_; }
  // The same for a file that is not to hold the large constants; graph() still has them here.
  SourceGraph without_constants() const;
  // Its structure, and all of it from elsewhere.
  SourceGraph with_whole(Load whole) const;

 private:
  class Lazy;
  SourceGraph(std::shared_ptr<Lazy> structure, bool kept, std::shared_ptr<Lazy> whole);

  std::shared_ptr<Lazy> structure_;
  bool kept_ = true;
  std::shared_ptr<Lazy> whole_;
};

// What a machine must be for a variant to run there, in the words of lib/target's tables.
struct VariantTarget {
  std::string backend;  // "c", "opencl", "cuda"; "" for the interpreter, whose variant has no code
  std::string isa;      // "x86-64", "avx2", "avx512"; for opencl "float16", "float8", or "gpu"; "" for cuda
  std::vector<std::string> extensions;  // without which the code does not run
  std::string processor;                // whose speeds decided; it runs on others, too
  bool operator==(const VariantTarget&) const = default;
};

// An output that is an input of the next run: parameters that a run updates, caches, the state of a recurrent network.
struct StateAlias {
  int32_t output = 0, input = 0;  // by their order
  bool operator==(const StateAlias&) const = default;
};

// What runs on one target: a graph after the passes, and the steps that compute it. Of a package all have inputs and outputs of the
// same names and types.
struct Variant {
  VariantTarget target;
  std::shared_ptr<const Graph> graph;  // never null; variants that passes made together share it
  std::vector<KernelInfo> kernels;
  std::vector<Step> steps;
  std::vector<Placement> values;  // by ValueId of `graph`; None: never materialised
  int64_t arena_bytes = 0;
  int64_t sample_arena_bytes = 0;  // of a sample that goes through such steps
  int32_t slots = 0;               // tensors of run-time shape, held outside the arena
  std::vector<StateAlias> state;   // each output and each input at most once, of the same fixed type
  Code code;

  bool compiled() const { return !target.backend.empty(); }
  // Of the batch, where steps take them one by one; else 1.
  int64_t samples() const {
    int64_t most = 1;
    for (const Step& step : steps) most = step.samples > most ? step.samples : most;
    return most;
  }
  // Whether samples may go on from this step to the next on their own.
  bool joins_next(size_t step) const {
    return step + 1 < steps.size() && steps[step].samples > 1 && steps[step + 1].samples == steps[step].samples;
  }
};

struct Placed;

struct Package {
  PackageInfo info;
  SourceGraph source;
  Constants constants;  // as kernels read them: packed 1-D, or row-major for the interpreter; variants share them
  std::vector<Variant>
      variants;  // at least one, all for one backend; a device takes what it likes best of those that run there
  std::vector<Type> input_types, output_types;
  std::shared_ptr<const Placed> placed;  // parts for several devices and their plan (package/placed.h), or null

  // The first variant's: of its inputs and outputs, their names and order are those of all.
  const Graph& graph() const { return *variants.front().graph; }
  const std::string& backend() const { return variants.front().target.backend; }
};

// A package whose only variant the interpreter runs: its graph is the source. Types of all values must have been inferred.
Package interpreted_package(Graph graph);

}  // namespace dnn
