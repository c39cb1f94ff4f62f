// Seeds faults into passes and kernels, one at a time, bisects, and prints what was seeded beside what was named.
// Usage: bisection_table SAMPLE_FOLDER. Exit code 1 unless every pass, rewrite and kernel is named, and nothing else.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include "formats/format.h"
#include "graph/bind.h"
#include "graph/text.h"
#include "image/preprocess.h"
#include "seeded_faults.h"

namespace {

using namespace dnn;

struct Fault {
  std::string where;  // pass, or pattern of kernel
  std::string what;   // in words
  int opt = 3;
  const char* net = "shapes";
  std::string reason;  // that the finding's rewrite must hold; "" where any of the pass's will do
  seeded::Damage damage = {};
  int nth = 0;  // kernel of the pattern
  std::string pattern = {}, by = {};
};

constexpr const char* kDense = R"(graph "dense" {
  opset 17
  input x: float32[1,16]
  const a: float32[16,8] = random(1)
  const b: float32[16,8] = random(2)
  const p: float32[16,8] = random(3)
  const q: float32[16,8] = random(4)
  const d: float32[8] = {2, 3, 5, 7, 11, 13, 17, 19}
  const half: float32[] = {0.5}
  const c1: float32[8] = {1, 2, 3, 4, 5, 6, 7, 8}
  const c2: float32[8] = {8, 7, 6, 5, 4, 3, 2, 1}
  m = Gemm(x, a) @left
  n = Gemm(x, b) @right
  s = Sub(m, n) @differ
  t = MatMul(x, p) @up
  u = MatMul(x, q) @down
  v = Sub(t, u) @apart
  k = Add(c1, c2) @constants
  w = Mul(s, k) @weigh
  e = Div(w, d) @divide
  f = Exp(v) @size
  g = Pow(f, half) @root
  r = Transpose(g) @turn {perm = [1, 0]}
  z = Transpose(r) @back {perm = [1, 0]}
  y = Add(e, z) @out
  output y
})";

std::vector<Fault> pass_faults() {
  using namespace dnn::seeded;  // NOLINT: the words of the table
  return {
      {"simplify-inference", "one batch norm's scale 2 % too large", 1, "shapes", "pointwise.1",
       scaled("pointwise.1", ".scale", 1.02)},
      {"simplify-inference", "sign of one batch norm's shift", 1, "shapes", "/top/top.1",
       scaled("/top/top.1", ".shift", -1)},
      {"simplify-inference", "shifts of all batch norms lost", 1, "shapes", "", scaled("", ".shift", 0)},
      {"simplify-inference", "a Relu removed like a Dropout", 1, "shapes", "dropped",
       node_dropped("/pointwise/pointwise.2/Relu")},
      {"simplify-inference", "channels of a scale in another order", 3, "shapes", "/inverted/expand/expand.1",
       halves_swapped("/inverted/expand/expand.1", ".scale")},
      {"canonicalize-ops", "a Clip removed", 2, "shapes", "dropped", node_dropped("/inverted/expand/expand.2/Clip")},
      {"canonicalize-ops", "two transposes, one dropped", 1, "square", "dropped", node_dropped("turn")},
      {"canonicalize-cast", "a Sigmoid removed", 1, "shapes", "dropped",
       node_dropped("/inverted/squeeze/squeeze.4/Sigmoid")},
      {"fold-constant", "a folded sum is wrong", 2, "dense", "", scaled("", "", 1.25)},
      {"eliminate-common-subexpr", "two convolutions of one input merged", 2, "shapes", " is ",
       merged("/branches/right/right.0/Conv", "/branches/left/left.0/Conv")},
      {"fold-scale-axis", "weights folded in float16", 3, "shapes", "", rounded_to_float16("", ".scaled")},
      {"fold-scale-axis", "one bias lost", 3, "shapes", "depthwise.1", scaled("depthwise.1", ".bias", 0)},
      {"fold-scale-axis", "scale along the wrong channels", 3, "shapes", "/residual/b/b.1",
       halves_swapped("/residual/b/b.1", ".scaled")},
      {"fold-scale-axis", "one fold's weights half as large, at -O4", 4, "shapes", "/project/project.1",
       scaled("/project/project.1", ".scaled", 0.5)},
      {"combine-parallel-conv2d", "weights joined in the wrong order", 4, "shapes", "into one",
       halves_swapped("into one", ".combined")},
      {"combine-parallel-conv2d", "the split's outputs exchanged", 4, "shapes", "into one",
       outputs_swapped("into one", "Split")},
      {"combine-parallel-dense", "weights joined in the wrong order", 4, "dense", "into one",
       halves_swapped("into one", ".combined")},
      {"combine-parallel-batch-matmul", "the split's outputs exchanged", 4, "dense", "into one",
       outputs_swapped("into one", "Split")},
      {"winograd", "transformed weights 1 % off", 4, "shapes", "/residual/a/a.0",
       scaled("/residual/a/a.0", ".winograd", 1.01)},
      {"winograd", "pads shifted by one", 4, "shapes", "/right_deep.0",
       attribute_set("/right_deep.0", "WinogradConv", "pads", std::vector<int64_t>{0, 0, 2, 2})},
      {"fast-math", "reciprocals wrong", 4, "dense", "divide", scaled("divide", ".reciprocal", 1.1)},
      {"fast-math", "a square root that is none", 4, "dense", "root", op_replaced("root", "Sqrt", "Abs")},
      {"fuse-ops", "an activation lost in a fused body", 1, "shapes", "/stem/stem.0",
       op_replaced("/stem/stem.0", "Relu", "Identity")},
      {"fuse-ops", "the residual subtracted", 3, "shapes", "/residual/b/b.0",
       op_replaced("/residual/b/b.0", "Add", "Sub")},
      {"alter-op-layout", "the bordered copy of the input negated", 3, "shapes", "border of",
       op_replaced("border of", "Identity", "Neg")},
      {"fold-scale-axis", "a fold that breaks the graph", 3, "shapes", "/pointwise/pointwise.1",
       attribute_set("/pointwise/pointwise.1", "Conv", "group", int64_t{3})},
  };
}

std::vector<Fault> kernel_faults() {
  const std::string relu = R"(max_f32x4\(splat_f32x4\(0\.0f\))", floor = "max_f32x4(splat_f32x4(0.5f)";
  return {
      {"conv", "an activation's bound", 3, "shapes", "", {}, 2, relu, floor},
      {"conv", "another convolution's", 3, "shapes", "", {}, 5, relu, floor},
      {"conv", "a filter tap reads the wrong weights", 3, "shapes", "", {}, 2, R"(\(x1 \+ \(64\)\))", "(x1 + (80))"},
      {"conv", "two sums exchanged", 3, "shapes", "", {}, 3, R"(\+ sum_0_0\);)", "+ sum_0_1);"},
      {"pool", "the window too small by a tap", 3, "shapes", "", {}, 1, R"(\+ 496\))", "+ 480)"},
      {"pool", "the maximum starts at zero point five", 3, "shapes", "", {}, 1, R"(-inf_f32\(\))", "0.5f"},
      {"reduce", "a mean divided by the wrong count", 3, "shapes", "", {}, 1, R"(/ 49\.0f)", "/ 48.0f"},
      {"reduce", "the other mean's sum too short", 3, "shapes", "", {}, 2, "k0 < 7", "k0 < 6"},
      {"matmul", "a sum too short by one", 3, "shapes", "", {}, 1, "k < 192", "k < 191"},
      {"matmul", "the bias subtracted", 0, "shapes", "", {}, 1, R"(\(sum \+ )", "(sum - "},
      {"map", "the last rows not written", 3, "shapes", "", {}, 3, R"(task < end; \+\+task)", "task < end - 1; ++task"},
      {"winograd", "a coefficient of the transform", 4, "shapes", "", {}, 1, R"(\* \(-5\.0f\))", "* (-4.0f)"},
      {"reduce", "a mean divided by the wrong count, at -O1", 1, "shapes", "", {}, 2, R"(/ 49\.0f)", "/ 48.0f"},
  };
}

Tensor random_input(const Shape& shape, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor tensor(DType::Float32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = uniform(engine);
  return tensor;
}

struct Net {
  Graph graph;
  std::vector<BisectSample> samples;
};

Net sample_net(const std::string& folder) {
  Net net;
  net.graph = read_model(open_model(folder + "/shapes.onnx", {}));
  bind_symbol(net.graph, "batch", 1);
  const Preprocess preprocess = named_preprocess("imagenet-torch", 56, 56, Layout::Nchw);
  for (const char* path : {"star/00.png", "ring/01.png", "heart/02.png", "cross/03.png", "spiral/04.png"})
    net.samples.push_back({path, {to_tensor(read_image(folder + "/images/" + path), preprocess)}});
  return net;
}

Net text_net(const std::string& text) {
  Net net;
  net.graph = parse_graph(text);
  const Shape shape = net.graph.value(net.graph.inputs[0]).type.fixed_shape();
  for (uint32_t seed = 1; seed <= 3; ++seed) net.samples.push_back({cat("random ", seed), {random_input(shape, seed)}});
  return net;
}

// What bisection named, and whether that is what was seeded.
bool judge(const Fault& fault, const BisectReport& report, const std::string& kernel, std::string* named) {
  for (const RewriteFinding& f : report.rewrites)
    *named +=
        cat(named->empty() ? "" : "; ", f.pass, " ", f.number_in_pass, "/", f.n_in_pass, " (", fault_name(f.kind), ")");
  for (const KernelFinding& f : report.kernels)
    *named += cat(named->empty() ? "" : "; ", join(f.kernels, "+"), " at ", f.node.name, " (", fault_name(f.kind), ")");
  if (kernel.empty()) {
    if (report.rewrites.size() != 1 || !report.kernels.empty()) return false;
    const RewriteFinding& f = report.rewrites[0];
    return f.pass == fault.where && f.reason.find(fault.reason) != std::string::npos && f.pass_restores &&
           f.kind != FaultKind::Rounding;
  }
  if (report.kernels.empty() || !report.rewrites.empty()) return false;
  for (const KernelFinding& f : report.kernels) {
    if (f.kind != FaultKind::Wrong || std::find(f.kernels.begin(), f.kernels.end(), kernel) == f.kernels.end())
      return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: bisection_table SAMPLE_FOLDER\n";
    return 2;
  }
  const Net shapes = sample_net(argv[1]), dense = text_net(kDense);
  const Net square = text_net(R"(graph "square" {
  opset 17
  input x: float32[4,4]
  const w: float32[4,4] = random(5)
  a = MatMul(x, w) @mix
  b = Transpose(a) @turn {perm = [1, 0]}
  y = MatMul(b, w) @again
  output y
})");
  const char* cache = std::getenv("DNN_TEST_CACHE");
  int right = 0, n = 0;
  const auto run = [&](const Fault& fault, bool is_kernel) {
    const Net& net = std::string(fault.net) == "shapes" ? shapes : std::string(fault.net) == "dense" ? dense : square;
    BisectSide source, target;
    source.name = "reference";
    source.device = source.compile.device = "reference";
    source.compile.opt = 0;
    target.name = cat("cpu -O", fault.opt);
    target.compile.opt = fault.opt;
    target.compile.isas = {"x86-64"};
    target.compile.build.cache_folder = cache == nullptr ? "" : cache;
    std::string kernel, named, note;
    if (is_kernel) {
      target.compiler = seeded::damaged_kernel(fault.where, fault.nth, fault.pattern, fault.by, &kernel);
    } else {
      target.compile.rows = &seeded::rows_with(fault.where, fault.damage);
    }
    bool ok = false;
    BisectReport report;
    try {
      report = bisect(net.graph, net.samples, source, target, {});
      ok = judge(fault, report, is_kernel ? kernel : "", &named);
    } catch (const Error& e) {
      named = cat("error: ", e.what());
    }
    ++n;
    right += ok ? 1 : 0;
    std::cout << n << "\t" << (ok ? "named" : "MISSED") << "\t" << (is_kernel ? "kernel " + kernel : fault.where)
              << "\t-O" << fault.opt << "\t" << fault.what << "\t" << report.max_abs << "\t" << report.relabelled.size()
              << " of " << report.n_samples << "\t" << named << std::endl;
  };
  std::cout << "fault\t\tseeded in\tlevel\twhat\tmoves outputs by\tlabels\tnamed\n";
  for (const Fault& fault : pass_faults()) run(fault, false);
  for (const Fault& fault : kernel_faults()) run(fault, true);
  std::cout << right << " of " << n << " named\n";
  return right == n ? 0 : 1;
}
