// The records of a stream as C++ values, and as JSON objects; schemas/records/ describes each for other programs.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace dnn::stream {

inline constexpr int kStreamVersion = 1;

// The processors of a machine: those that the system schedules, each a core or a hardware thread of one. What is not known is 0
// or empty.
struct Topology {
  int sockets = 0, cores = 0, processors = 0, numa_nodes = 0;
  struct Cache {
    std::string name;        // "L1d", "L2", "L3"; not those of instructions alone
    int64_t size_bytes = 0;  // of one
    int shared_by = 0;       // processors that have one together
    int count = 0;           // how many of this size, shared by as many
  };
  std::vector<Cache> caches;
  std::vector<std::string> core_classes;  // of cores of several kinds: the processors of each, fastest first, as "0-7"
};

// Opens a run. Empty text and absent values mean "not known" and are not written.
struct Header {
  std::string tool;                  // "dnn-infer"
  std::vector<std::string> command;  // the whole command line
  struct Model {
    std::string path, sha256, format;
  } model;
  std::optional<int> opt;  // optimisation level
  std::string passes;      // what its passes differ by from the level's own, as "-fold-constant,+fast-math"
  std::string device, isa, dtype;
  std::string label_set;     // "imagenet-1k"; class ids are comparable only within one set
  int64_t label_offset = 0;  // class c of the model is label c - label_offset (1 when the model has a background class)
  std::string preprocess;    // JSON object text: the whole recipe
  std::optional<int> batch, threads;
  std::string affinity;          // processors that the run was kept to, in its threads' order, as "0,2-5"
  std::string shard;             // "2/8": this run holds every eighth sample of its data set, from the third on
  std::string latency_contains;  // what latency_ns covers, in words
  std::optional<Topology> topology;
  std::map<std::string, std::string> host;
  std::vector<Header> inputs;  // headers of the streams that this one was made from: the provenance chain
};

// One input of the network.
struct Sample {
  int64_t id = 0;  // unique within the run
  std::string path;
  std::optional<int64_t> truth;  // a label of the header's set (no offset)
  Tensor tensor;                 // optional: the preprocessed input
};

struct Prediction {
  int64_t sample = 0;
  struct Class {
    int64_t index = 0;  // the model's own class number; index - label_offset is the label
    double score = 0;
    std::string label;
  };
  std::vector<Class> top_k;                             // best first
  std::vector<std::pair<std::string, Tensor>> outputs;  // optional, by the model's output names
  std::optional<int64_t> latency_ns;                    // of the batch that this sample was in
  std::optional<int64_t> transport_ns;                  // how much longer it took to get to another machine and back
  std::optional<int64_t> done_ns;  // since the first run began; where several are on their way at once
  int64_t batch = 1;               // samples in that batch
};

enum class Role : uint8_t { Activation, Parameter, Output, Input };
std::string_view role_name(Role role);

// One value of the graph, in logical axis order.
struct TensorRecord {
  std::string node;               // the node that makes it, after optimisation
  std::string name;               // the value's name in the source model
  std::optional<int64_t> sample;  // absent for parameters
  std::string axes;               // logical axes, as "NCHW"; empty when not known
  Role role = Role::Activation;
  bool recomputed = false;  // fusion had removed it; this was computed beside the run
  Tensor tensor;
};

// What one process spent; counts and times since the run began.
struct ProcessUsage {
  std::optional<double> cpu_percent;  // of one processor, since the record before
  std::optional<int64_t> cpu_time_ns;
  std::optional<int64_t> memory_bytes, memory_peak_bytes;  // resident; the most since the process began
  std::optional<int64_t> minor_faults, major_faults;
  std::optional<int64_t> voluntary_switches, involuntary_switches;
};

// What the run and the machine spent, at one moment.
struct Usage {
  int64_t time_ns = 0;                  // since the epoch
  ProcessUsage process;                 // the tool's own; its keys stand in the record itself
  std::optional<ProcessUsage> network;  // that which runs the network, where it is another: a framework's
  // Of the whole machine: each processor since the record before, by its number, none for one that is not known.
  std::vector<std::optional<double>> cores_percent;
  std::optional<double> frequency_mhz;  // mean of the processors
  std::optional<double>
      energy_mj;  // of the processors, and their memory where it is counted apart, since the run began
  // All devices' added up.
  std::optional<double> gpu_percent;
  std::optional<int64_t> gpu_memory_bytes;
  std::optional<double> gpu_energy_mj;
  std::optional<int64_t> sampler_ns;  // processor time that measuring took so far
};

// Closes a run: how many records of each type it holds. Writer fills it in.
struct End {
  std::map<std::string, int64_t> records;
};

using Record = std::variant<Header, Sample, Prediction, TensorRecord, Usage, End>;

std::string_view record_type(const Record& record);  // "header", "sample", ...

// One line of JSON without its newline: bytes as base64, numbers that read back to the same bits, NaN and infinities
// as the texts "nan", "inf", "-inf".
std::string record_to_json(const Record& record);

// The record of such a line; nullopt for a type that this version does not know. Unknown keys are skipped.
// Throws Malformed, and Unsupported for a header of a newer stream version.
std::optional<Record> record_from_json(std::string_view line);

}  // namespace dnn::stream
