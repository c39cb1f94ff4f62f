// The targets "cpu-O0" to "cpu-O4" and "opencl-O0" to "opencl-O4", "cuda-O0" to "cuda-O4", and "unix:PATH-O0" and the like for a dnn-serve
// on aarch64: cases compiled many to a package, and run on the device.
#include <exception>

#include "base/file.h"
#include "cli/console.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "onnx/target.h"
#include "target/isa.h"

namespace dnn::conformance {
namespace {

bool has_subgraphs(const Graph& graph) {
  for (NodeId id : graph.order()) {
    for (const auto& [key, attribute] : graph.node(id).attributes) {
      if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute)) return true;
    }
  }
  return false;
}

// Puts `graph` beside what is in `all`, its names behind `prefix`.
void append(Graph& all, const Graph& graph, const std::string& prefix) {
  std::vector<ValueId> ids;
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    Value value = graph.value(id);
    value.name = prefix + value.name;
    if (value.type.shape) {  // a symbol means nothing outside its own graph
      for (Dim& dim : *value.type.shape) dim.symbol.clear();
    }
    ids.push_back(all.add_value(std::move(value)));
  }
  const auto renumber = [&](std::vector<ValueId>& values) {
    for (ValueId& id : values) id = id == kNoValue ? kNoValue : ids[static_cast<size_t>(id)];
  };
  for (NodeId id : graph.order()) {
    Node node = graph.node(id);
    node.name = prefix + node.name;
    renumber(node.inputs);
    renumber(node.outputs);
    all.add_node(std::move(node));
  }
  std::vector<ValueId> inputs = graph.inputs, outputs = graph.outputs;
  renumber(inputs);
  renumber(outputs);
  all.inputs.insert(all.inputs.end(), inputs.begin(), inputs.end());
  all.outputs.insert(all.outputs.end(), outputs.begin(), outputs.end());
}

DeviceOptions device_options() {
  DeviceOptions options;
  options.threads = 1;
  options.variable = cli::variable;
  return options;
}

// Some jobs compiled into one package; its outputs for the jobs' inputs.
class Bundle {
 public:
  Bundle(const std::vector<Target::Job>& jobs, const std::vector<size_t>& members, const CompileOptions& options,
         const std::string& device) {
    Graph all;
    std::vector<Tensor> inputs;
    for (size_t i : members) {
      // A graph alone stays as it is: names matter to what its subgraphs capture.
      if (members.size() == 1)
        all = *jobs[i].graph;
      else
        append(all, *jobs[i].graph, cat("case", i, "/"));
      inputs.insert(inputs.end(), jobs[i].inputs.begin(), jobs[i].inputs.end());
    }
    auto package = std::make_shared<const Package>(compile(all, options));
    for (const Step& step : package->variants[0].steps) (step.kernel >= 0 ? n_kernels : n_interpreted) += 1;
    DeviceSpec spec(device);
    spec.connect(device_options());
    const std::vector<Tensor> outputs = open_session(spec, package, device_options())->run(inputs);
    size_t at = 0;
    for (size_t i : members) {
      const size_t n = jobs[i].graph->outputs.size();
      results.emplace_back(outputs.begin() + static_cast<ptrdiff_t>(at),
                           outputs.begin() + static_cast<ptrdiff_t>(at + n));
      at += n;
    }
  }
  std::vector<std::vector<Tensor>> results;  // by member
  int n_kernels = 0, n_interpreted = 0;
};

class Compiled : public Target {
 public:
  Compiled(const std::string& device, int opt)
      : device_(device), cache_(std::filesystem::temp_directory_path().string()) {
    const DeviceSpec spec(device);
    options_.device = spec.is_remote() ? "cpu" : device;
    options_.opt = opt;
    options_.isas = {opt < 3 ? std::string("x86-64") : supported_isas().back()};
    if (spec.is_remote()) options_.isas = isas_of_target("aarch64");
    options_.build.cache_folder = cache_.path();
  }
  size_t batch() const override { return 64; }

  void load(const std::vector<Job>& jobs) override {
    jobs_ = &jobs;
    results_.assign(jobs.size(), {});
    errors_.assign(jobs.size(), nullptr);
    // What the interpreter refuses is not compiled, so that it does not fail the others.
    std::vector<size_t> together, alone;
    for (size_t i = 0; i < jobs.size(); ++i) {
      try {
        interpret(*jobs[i].graph, jobs[i].inputs);
        (has_subgraphs(*jobs[i].graph) ? alone : together).push_back(i);
      } catch (...) {
        errors_[i] = std::current_exception();
      }
    }
    try {
      if (!together.empty()) run_bundle(together);
    } catch (const std::exception&) {  // one of them fails: find it
      alone.insert(alone.end(), together.begin(), together.end());
    }
    for (size_t i : alone) {
      try {
        run_bundle({i});
      } catch (...) {
        errors_[i] = std::current_exception();
      }
    }
  }

  std::vector<Tensor> run(size_t job_i, const std::vector<Tensor>& inputs) override {
    if (errors_[job_i] != nullptr) std::rethrow_exception(errors_[job_i]);
    const Job& job = (*jobs_)[job_i];
    bool same = true;
    for (size_t i = 0; i < inputs.size(); ++i) same = same && inputs[i].identical(job.inputs[i]);
    if (same) return results_[job_i];
    return Bundle({Job{job.graph, inputs}}, {0}, options_, device_).results[0];
  }

  std::string summary() const override {
    return cat(n_kernels_, " kernels ran, ", n_interpreted_, " steps were interpreted");
  }

 private:
  void run_bundle(const std::vector<size_t>& members) {
    Bundle bundle(*jobs_, members, options_, device_);
    for (size_t k = 0; k < members.size(); ++k) results_[members[k]] = std::move(bundle.results[k]);
    n_kernels_ += bundle.n_kernels;
    n_interpreted_ += bundle.n_interpreted;
  }

  const std::string device_;
  TemporaryFolder cache_;
  CompileOptions options_;
  const std::vector<Job>* jobs_ = nullptr;
  std::vector<std::vector<Tensor>> results_;
  std::vector<std::exception_ptr> errors_;
  int n_kernels_ = 0, n_interpreted_ = 0;
};

}  // namespace

std::unique_ptr<Target> open_compiled(const std::string& device, int opt) {
  if (!DeviceSpec(device).is_remote() && DeviceSpec(device).device().list(device_options()).empty())
    fail_environment("there is no ", device, " device on this machine");
  return std::make_unique<Compiled>(device, opt);
}

}  // namespace dnn::conformance
