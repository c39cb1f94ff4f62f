// Arguments of torch's operators that cannot change what a network computes, and why; see import.h.
#include "formats/torch/import.h"

namespace dnn::torch {

const IrrelevantFields& irrelevant_arguments() {
  static const IrrelevantFields rows = {
      {"*", "device", "", "where a tensor lies, not what it holds"},
      {"*", "pin_memory", "", "where a tensor lies, not what it holds"},
      {"*", "memory_format", "", "the order of elements in memory, which no result depends on"},
      {"*", "non_blocking", "", "when a copy is done"},
      {"to _to_copy", "copy", "", "a copy holds the same numbers"},
      {"*", "layout", "0", "strided, as every tensor that is read"},
      {"*", "implicit", "", "who asked for the broadcast"},
      {"*", "sparse_grad", "", "of gradients"},
      {"*", "out", "None", "no tensor to write into"},
      {"embedding", "padding_idx", "", "of gradients: the row is read as any other"},
      {"embedding", "scale_grad_by_freq", "", "of gradients"},
      {"embedding", "sparse", "", "of gradients"},
      {"instance_norm", "momentum", "", "how running statistics follow in training, which is refused"},
      {"batch_norm instance_norm group_norm", "cudnn_enabled", "", "which kernel computes"},
      {"layer_norm", "cudnn_enable", "", "which kernel computes"},
      {"_convolution", "benchmark", "", "which kernel computes"},
      {"_convolution", "deterministic", "", "which kernel computes"},
      {"_convolution", "cudnn_enabled", "", "which kernel computes"},
      {"_convolution", "allow_tf32", "", "which kernel computes"},
      {"instance_norm", "running_mean", "", "with the input's own statistics it is only updated"},
      {"instance_norm", "running_var", "", "with the input's own statistics it is only updated"},
      {"dropout alpha_dropout feature_dropout native_dropout", "p", "", "of training, which is refused"},
      {"einsum", "path", "", "in which order products are formed"},
      {"topk sort", "sorted", "True", "torch sorts either way"},
      {"sort", "stable", "", "which of equal elements comes first, which torch leaves open"},
      {"_native_multi_head_attention", "need_weights", "", "the weights are not made: who reads them is refused"},
      {"_native_multi_head_attention", "average_attn_weights", "", "as need_weights"},
      {"quantized::relu6", "inplace", "", "where the result lies"},
  };
  return rows;
}

}  // namespace dnn::torch
