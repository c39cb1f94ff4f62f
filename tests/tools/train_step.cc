// Times of a training step: train_step MODEL BATCH STEPS [THREADS] [FREEZE]. A table of its kernels, the slowest first, and medians.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>

#include "compile/compile.h"
#include "convert/source.h"
#include "convert/surgery.h"
#include "devices/device.h"
#include "graph/tensor_text.h"
#include "infer/profile.h"
#include "ops/op.h"
#include "target/isa.h"
#include "target/processor.h"
#include "train/step.h"

namespace {

using namespace dnn;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int measure(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: train_step MODEL BATCH STEPS [THREADS] [FREEZE]\n";
    return 2;
  }
  const int steps = std::atoi(argv[3]), threads = argc > 4 ? std::atoi(argv[4]) : 1;
  Graph model = read_to_convert(argv[1], nullptr, {});
  set_batch(model, argv[2]);
  infer_types(model);
  train::Frozen frozen;
  if (argc > 5) frozen = train::frozen_layers(model, {argv[5]});
  const train::StepGraph step = train::make_step(model, train::find_parameters(model, frozen), {});
  auto start = std::chrono::steady_clock::now();
  CompileOptions options;
  options.isas = {supported_isas().back()};
  options.processor = processor_kind();
  const auto package = std::make_shared<const Package>(compile(step.graph, options));
  std::cout << "compiled in " << seconds_since(start) << " s\n";
  const std::unique_ptr<Session> session = open_session("cpu", package, {.threads = threads, .isa = {}});
  std::vector<Tensor> inputs;
  for (ValueId v : step.graph.inputs) {
    const Type& type = step.graph.value(v).type;
    inputs.push_back(random_tensor(type.dtype, type.fixed_shape(), static_cast<uint64_t>(v)));
  }
  for (size_t i = 0; i < step.variables.size(); ++i) inputs[step.feeds.size() + i] = step.variables[i].initial;
  session->run(inputs);
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    start = std::chrono::steady_clock::now();
    session->run(inputs);
    times.push_back(seconds_since(start));
  }
  session->enable_profile(true);
  for (int i = 0; i < std::max(1, steps / 2); ++i) session->run(inputs);
  const std::vector<StepProfile> profile = session->profile();
  const Variant& variant = session->variant();
  std::map<std::string, double> by_kind;
  for (size_t i = 0; i < std::min(profile.size(), variant.steps.size()); ++i) {
    const Node& node = variant.graph->node(variant.steps[i].node);
    const std::string where = node.name.rfind("gradient/", 0) == 0 ? "backward "
                              : node.name.rfind("update/", 0) == 0 ? "update "
                                                                   : "forward ";
    by_kind[where + node.op] +=
        static_cast<double>(profile[i].time_ns) / static_cast<double>(std::max<int64_t>(1, profile[i].runs)) * 1e-6;
  }
  std::cout << profile_table(variant, profile, std::nullopt);
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [kind, ms] : by_kind) sorted.emplace_back(ms, kind);
  std::sort(sorted.rbegin(), sorted.rend());
  for (const auto& [ms, kind] : sorted) std::cout << ms << " ms  " << kind << "\n";
  std::sort(times.begin(), times.end());
  std::cout << "step: median " << times[times.size() / 2] * 1e3 << " ms, least " << times[0] * 1e3 << " ms, " << threads
            << " threads\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "train_step: error: " << error.what() << "\n";
    return 1;
  }
}
