// A run that holds every kind of record with every key, for tests.
#pragma once
#include <vector>

#include "stream/records.h"

namespace dnn::stream {

inline std::vector<Record> example_run() {
  Header header;
  header.tool = "dnn-infer";
  header.command = {"dnn-infer", "-O3", "tench.onnx", "imgs/"};
  header.model = {"tench.onnx", std::string(64, 'a'), "onnx"};
  header.opt = 3;
  header.passes = "-fuse-ops";
  header.device = "cpu";
  header.isa = "avx2";
  header.dtype = "float32";
  header.label_set = "imagenet-1k";
  header.label_offset = 1;
  header.preprocess = R"({"name":"imagenet-torch","mean":[0.485,0.456,0.406]})";
  header.batch = 2;
  header.threads = 1;
  header.affinity = "3,0-1";
  header.topology = {1, 4, 6, 1, {{"L1d", 49152, 2, 2}, {"L3", 33554432, 6, 1}}, {"0-3", "4-5"}};
  header.shard = "1/4";
  header.latency_contains = "run, without decoding";
  header.host = {{"cpu", "a processor"}, {"os", "linux"}};
  Header input;
  input.tool = "dnn-cat";
  header.inputs = {input};

  Prediction prediction;
  prediction.sample = 7;
  prediction.top_k = {{1, 17.25, "tench"}, {0, -0.1, ""}};
  prediction.outputs = {{"logits", Tensor::of<float>({1, 2}, {-0.1f, 17.25f})},
                        {"aux", Tensor::of<double>({1}, {0.1})}};
  prediction.latency_ns = 5312345;
  prediction.transport_ns = 98765;
  prediction.done_ns = 1234567;
  prediction.batch = 2;

  Tensor words(DType::String, {2});
  words.mutable_strings() = {"tench", ""};
  Usage usage;
  usage.time_ns = 1700000000000000000;
  usage.process.cpu_percent = 99.5;
  usage.process.cpu_time_ns = 1234567;
  usage.process.memory_bytes = 1 << 20;
  usage.process.memory_peak_bytes = 1 << 21;
  usage.process.minor_faults = 0;
  usage.process.major_faults = 1;
  usage.process.voluntary_switches = 2;
  usage.process.involuntary_switches = 3;
  usage.network = usage.process;
  usage.network->memory_bytes = {};
  usage.cores_percent = {12.5, {}, 100};
  usage.frequency_mhz = 2596.5;
  usage.energy_mj = 12.5;
  usage.gpu_percent = 0;
  usage.gpu_memory_bytes = 5;
  usage.gpu_energy_mj = 0.25;
  usage.sampler_ns = 4000;
  return {
      header,
      Sample{7, "imgs/n01440764_tench.JPEG", 0, Tensor::of<uint8_t>({1, 2, 3}, {1, 2, 3, 4, 5, 255})},
      TensorRecord{"conv1+relu1", "conv1/out", 7, "NCHW", Role::Activation, true,
                   Tensor::of<float>({1, 2, 1, 1}, {0.5f, -0.0f})},
      TensorRecord{"", "conv1/weight", {}, "", Role::Parameter, false, Tensor::of<int64_t>({}, {-1})},
      TensorRecord{"", "names", 7, "", Role::Output, false, words},
      prediction,
      usage,
      End{{{"prediction", 1}, {"sample", 1}, {"tensor", 3}, {"usage", 1}}},
  };
}

}  // namespace dnn::stream
