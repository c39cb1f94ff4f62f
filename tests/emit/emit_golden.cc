// What the code generator prints for tiny nets: loop IR, C, OpenCL C and CUDA C++ at -O0 and -O3, CUDA C++ at -O4 where it differs, held against goldens
// (NET.txt is a net; NET/O3.cu what it becomes), and compiled by what this machine has for each language.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "cli/console.h"
#include "codegen/generate.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "devices/nvrtc.h"
#include "golden.h"
#include "graph/text.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

constexpr int kLevels[] = {0, 3, 4};
constexpr const char* kPreludeNet = "softmax";  // whose preludes are goldens too
constexpr double kCompileSeconds = 300;
constexpr uint32_t kSeed = 7;

struct Net {
  std::string name;
  Graph graph;
};

std::vector<Net> nets(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
      names.insert(entry.path().stem().string());
  }
  std::vector<Net> result;
  for (const std::string& name : names) result.push_back({name, parse_graph(read_file(folder + "/" + name + ".txt"))});
  return result;
}

struct Printed {
  Language language;
  const char* isa;
  const char* extension;
  int last;  // level
};
constexpr Printed kPrinted[] = {
    {Language::C, "avx2", "c", 3}, {Language::OpenCl, "float16", "cl", 3}, {Language::Cuda, "", "cu", 4}};
const Printed &kC = kPrinted[0], &kOpenCl = kPrinted[1], &kCuda = kPrinted[2];

// A net after the passes of a level.
Graph optimised(const Net& net, const Target& target) {
  Graph graph = net.graph;
  infer_types(graph);
  PassOptions options;
  options.target = target;
  run_passes(graph, options);
  return graph;
}

Target target_of(const Printed& printed, int opt) {
  const Isa& isa = *find_isa(printed.language, printed.isa);
  return make_target(isa, isa.gpu ? kGpu : kGeneric, opt);
}

std::string source_of(const Net& net, int opt, const Printed& printed) {
  const Target target = target_of(printed, opt);
  return codegen::generate(optimised(net, target), {.targets = {target}}).variants.at(0).code.source;
}

std::vector<std::string> units_of(const std::string& source) {
  std::vector<std::string> units;
  for (size_t at = source.find(kUnitDivider); at != std::string::npos;) {
    const size_t begin = at + kUnitDivider.size();
    at = source.find(kUnitDivider, begin);
    units.push_back(source.substr(begin, at == std::string::npos ? at : at - begin));
  }
  if (units.empty()) units.push_back(source);
  return units;
}

// Where the first kernel's comment begins.
size_t kernels_begin(const std::string& unit) {
  const size_t at = unit.find("\n// ");
  if (at == std::string::npos) fail_internal("a unit without a kernel's comment");
  return at + 1;
}

int check_texts(const std::string& folder, bool rebase) {
  Goldens goldens(rebase);
  for (const Net& net : nets(folder)) {
    std::map<std::string, std::string> before;  // of the level before, by language
    for (const int opt : kLevels) {
      const std::string base = cat(folder, "/", net.name, "/O", opt, ".");
      if (opt <= kC.last)
        goldens.check(base + "loops.txt",
                      codegen::emit_loops(optimised(net, target_of(kC, opt)), {}, target_of(kC, opt)));
      for (const Printed& printed : kPrinted) {
        if (opt > printed.last) continue;
        std::string kernels;
        for (const std::string& unit : units_of(source_of(net, opt, printed))) {
          const size_t begin = kernels_begin(unit);
          kernels += (kernels.empty() ? "" : "\n") + unit.substr(begin);
          if (net.name == kPreludeNet && opt == 3 && kernels.size() == unit.size() - begin)
            goldens.check(cat(folder, "/prelude.", printed.extension), unit.substr(0, begin));
        }
        const std::string golden = base + printed.extension;
        if (opt < 4 || kernels != before[printed.extension] || std::filesystem::exists(golden))
          goldens.check(golden, kernels);
        before[printed.extension] = kernels;
      }
    }
  }
  return goldens.finish("texts of kernels");
}

// The system's C compiler, with all warnings as errors.
int compile_c(const std::string& folder) {
  int n = 0, n_failed = 0;
  TemporaryFolder scratch(std::filesystem::temp_directory_path().string());
  for (const Net& net : nets(folder)) {
    for (const int opt : kLevels) {
      if (opt > kC.last) continue;
      std::vector<std::string> argv = {
          "cc",         "-std=gnu11", "-O1",   "-Wall",           "-Wextra",           "-Werror",
          "-Wno-psabi", "-mavx2",     "-mfma", "-fno-math-errno", "-ffp-contract=off", "-c"};
      if (opt >= 3) argv.insert(argv.end() - 1, "-DDNN_VECTOR_MATH");
      for (const std::string& unit : units_of(source_of(net, opt, kC))) {
        argv.push_back(cat(scratch.path(), "/", n++, ".c"));
        write_file(argv.back(), unit);
      }
      const ProcessResult result = run_process(argv, scratch.path(), kCompileSeconds);
      if (result.exit_code == 0 && !result.timed_out) continue;
      std::cout << "FAIL " << net.name << " -O" << opt << ":\n" << result.output;
      ++n_failed;
    }
  }
  std::cout << n << " units of C compiled, " << n_failed << " failures\n";
  return n_failed == 0 ? 0 : 1;
}

// The first device of a language compiles and runs them, and the interpreter agrees.
int run_on(const std::string& device, const Printed& printed, const std::string& folder) {
  DeviceOptions options_of_device;
  options_of_device.variable = cli::variable;
  if (DeviceSpec(device).device().list(options_of_device).empty()) {
    std::cout << "SKIP no device " << device << "\n";
    return 77;
  }
  int n = 0, n_failed = 0;
  for (const Net& net : nets(folder)) {
    std::mt19937 engine(kSeed);
    const Type& type = net.graph.value(net.graph.inputs[0]).type;
    const bool bytes = type.dtype == DType::UInt8;
    std::uniform_real_distribution<float> uniform(bytes ? 0 : -2, bytes ? 255 : 2);
    Tensor numbers(DType::Float32, type.fixed_shape());
    for (int64_t i = 0; i < numbers.size(); ++i) numbers.mutable_data<float>()[i] = uniform(engine);
    const Tensor x = convert(numbers, type.dtype);
    const std::vector<double> expected = to_doubles(interpret(net.graph, {x})[0]);
    for (const int opt : kLevels) {
      if (opt > printed.last) continue;
      CompileOptions options;
      options.opt = opt;
      options.device = device;
      const auto package = std::make_shared<Package>(compile(net.graph, options));
      const std::vector<double> actual =
          to_doubles(open_session(device + ":0", package, options_of_device)->run({x})[0]);
      ++n;
      for (size_t i = 0; i < expected.size(); ++i) {
        if (std::abs(actual[i] - expected[i]) <= 2e-6 * (1 + std::abs(expected[i]))) continue;
        std::cout << "FAIL " << net.name << " -O" << opt << ": element " << i << " is " << actual[i] << ", not "
                  << expected[i] << "\n";
        ++n_failed;
        break;
      }
    }
  }
  std::cout << n << " nets compiled for " << device << " and run, " << n_failed << " failures\n";
  return n_failed == 0 ? 0 : 1;
}

// NVRTC compiles them, without a warning, for those of sm_70, sm_80 and sm_90 that it knows.
int compile_cuda(const std::string& folder) {
  std::string why;
  const char* const path = std::getenv("DNN_NVRTC");
  const std::unique_ptr<Nvrtc> nvrtc = Nvrtc::open(path == nullptr ? "" : path, &why);
  if (nvrtc == nullptr) {
    std::cout << "SKIP " << why << "\n";
    return 77;
  }
  int n = 0, n_failed = 0;
  for (const int architecture : {70, 80, 90}) {
    const std::vector<int> known = nvrtc->architectures();
    if (std::find(known.begin(), known.end(), architecture) == known.end()) {
      std::cout << "SKIP sm_" << architecture << ": NVRTC " << nvrtc->version()
                << " does not know it; DNN_NVRTC may name another libnvrtc.so (CUDA 12 has sm_70)\n";
      continue;
    }
    for (const Net& net : nets(folder)) {
      for (const int opt : kLevels) {
        const Nvrtc::Compiled compiled = nvrtc->compile(source_of(net, opt, kCuda), architecture);
        ++n;
        if (!compiled.code.empty() && compiled.log.empty()) continue;
        std::cout << "FAIL " << net.name << " -O" << opt << " sm_" << architecture << ":\n" << compiled.log << "\n";
        ++n_failed;
      }
    }
    std::cout << "sm_" << architecture << ": compiled by NVRTC " << nvrtc->version() << "\n";
  }
  std::cout << n << " texts of CUDA C++ compiled, " << n_failed << " failures\n";
  return n == 0 ? 77 : n_failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace dnn

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const std::string how = args.size() == 2 ? args[0] : "";
  if (args.size() == 1 || how == "--rebase") return dnn::check_texts(args.back(), how == "--rebase");
  if (how == "--c") return dnn::compile_c(args.back());
  if (how == "--opencl") return dnn::run_on("opencl", dnn::kOpenCl, args.back());
  if (how == "--cuda") return dnn::compile_cuda(args.back());
  if (how == "--gpu") return dnn::run_on("cuda", dnn::kCuda, args.back());
  std::cerr << "usage: golden_emit [--rebase | --c | --opencl | --cuda | --gpu] FOLDER   (exit codes: 0 good, 1 bad, 2 "
               "usage, 77 "
               "not here)\n";
  return 2;
}
