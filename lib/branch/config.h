// Branched networks as the configurations of pycls describe them (ANYNET of "mbanynet"): stages of branches, each for a device.
//
// The contract of lib/branch: read_config() reads a configuration, build_network() makes its graph (network.h), whose nodes are called
// after the device that each is for; a placement (placement.h) puts these onto real devices, a plan (plan.h) cuts the graph into
// segments by it, and a ParallelSession (executor.h) runs them at once. evaluate.h measures it all.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnn::branch {

// A processor that a configuration may name: "cpu", 'C'.
struct ProcessorName {
  const char* name;
  char letter;
};
// cpu, dsp, gpu: in the order that their indices count.
const std::vector<ProcessorName>& processor_names();
// The row of a name or a letter, or null.
const ProcessorName* find_processor(std::string_view name);

enum class Stem { Residual, Simple, Cifar };  // res_stem_in, simple_stem_in, res_stem_cifar
enum class Block {
  Basic,
  Bottleneck,
  Shuffle,
  InvertedBottleneck
};  // res_basic_block, res_bottleneck_block, inverted_residual, mbconv
enum class Activation { Relu, Silu };

struct Branch {
  std::string device;  // "cpu"
  int64_t depth = 1, width = 1, stride = 1;
  double bottleneck = 1;    // BOT_MULS
  int64_t group_width = 0;  // GROUP_WS; 0: not given
  Activation activation = Activation::Relu;
};

struct Stage {
  std::vector<Branch> branches;
  int64_t width = 0;   // of the merged tensor: ORIGINAL_WIDTHS
  int64_t kernel = 0;  // KERNELS; 0: not given
};

struct Config {
  std::string path;
  Stem stem = Stem::Simple;
  int64_t stem_width = 32, stem_kernel = 7;
  Block block = Block::Bottleneck;
  std::vector<Stage> stages;
  int64_t head_width = 0;
  double squeeze = 0;  // SE_R where SE_ON; 0: none
  int64_t classes = 10;
  Activation activation = Activation::Relu;  // of stem, head and squeeze blocks
  std::string stem_device, head_device, merge_device;
  int version = 2;              // MB_VER
  bool branches_stride = true;  // MB_DOWNSAMPLE: each branch strides on its own
  float epsilon = 1e-5f;
  int64_t image_size = 224;  // TRAIN.IM_SIZE

  bool branched() const;
  // Names of the devices that it has work for, in the order of processor_names().
  std::vector<std::string> devices() const;
};

// True for the names of configurations, .yaml and .yml. Other files are models.
bool is_config(const std::string& path);

// The configuration in a file's text. `warn` gets what is odd in it and read all the same. Throws Malformed, and Unsupported for keys and
// values that are not ours, with "PATH:LINE: " in front.
Config parse_config(std::string_view text, const std::string& path,
                    const std::function<void(const std::string&)>& warn);
Config read_config(const std::string& path, const std::function<void(const std::string&)>& warn);

}  // namespace dnn::branch
