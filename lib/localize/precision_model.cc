// Precision of a model file's layers; see precision_model.h.
#include "localize/precision_model.h"

#include "devices/library.h"

namespace dnn {

DType precision_dtype(const std::string& name) {
  const DType dtype = precision_named(name);
  if (dtype != DType::Float16 && dtype != DType::BFloat16 && dtype != DType::Int8)
    fail_usage("--precision ", name, ": choose from float16, bfloat16, int8");
  return dtype;
}

JudgedPrecision judge_precision_of(const PrecisionRequest& request) {
  const DeviceSpec& device = request.network.device;
  if (device.framework() != nullptr)
    fail_usage("--device ", device, ": a framework shows no layers; give cpu, reference or opencl:N");
  if (device.float64()) fail_usage("--device ", device, ": layers are rounded from float32");
  NetworkOptions network = request.network;
  network.level = "0";
  network.passes.clear();
  const OpenOptions open = open_options(network);
  const std::shared_ptr<const Package> written = open_as_written(request, network);
  PrecisionOptions search = request.search;
  search.device = device;
  search.variable = request.network.variable;
  search.compile = open.compile;
  search.compile.build.cache_folder = request.folders.compile.build.cache_folder;
  search.compile.build.key_path = request.folders.compile.build.key_path;
  search.compile.build.warn = request.folders.warn;
  search.threads = request.threads;
  search.deadline = search.deadline.rest();  // reading the model is no part of the search
  const HeldSamples held = hold_samples(request, *written, search.deadline);
  JudgedPrecision judged = {request.model, device.text(), held.labels,
                            judge_precision(written->source.graph(), held.samples, search), held.not_judged};
  judged.not_judged.left_out += static_cast<int64_t>(held.samples.size() - judged.report.n_samples);
  return judged;
}

}  // namespace dnn
