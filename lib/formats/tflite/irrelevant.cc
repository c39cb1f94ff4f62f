// Fields of TFLite files that cannot change what a network computes, and why; see import.h.
#include "formats/tflite/import.h"

namespace dnn::tflite {

const IrrelevantFields& irrelevant_fields() {
  static const IrrelevantFields rows = {
      {"ADD SUB", "pot_scale_int16", "", "how 16-bit kernels round their scales"},
      {"ARG_MAX ARG_MIN", "output_type", "", "the output tensor's type says it"},
      {"BATCH_MATMUL FULLY_CONNECTED", "asymmetric_quantize_inputs", "",
       "XNNPACK, which runs by default, always does so"},
      {"CAST", "in_data_type", "", "the input tensor's type says it"},
      {"CAST", "out_data_type", "", "the output tensor's type says it"},
      {"DEPTHWISE_CONV_2D", "depth_multiplier", "", "the weights' extents say it"},
      {"PACK", "values_count", "", "the number of inputs"},
      {"RESIZE_BILINEAR", "new_height", "", "the size is an input, as in the schema since 2018"},
      {"RESIZE_BILINEAR", "new_width", "", "the size is an input, as in the schema since 2018"},
      {"SHAPE", "out_type", "", "the output tensor's type says it"},
      {"SPLIT SPLIT_V", "num_splits", "", "the number of outputs"},
      {"UNPACK", "num", "", "the number of outputs"},
      {"Operator", "debug_metadata_index", "", "where the operator comes from"},
      {"Operator", "custom_options_format", "", "of custom options, which are refused"},
      {"Tensor", "has_rank", "", "whether an empty shape is a scalar's"},
      {"Quantization", "min", "", "the range that calibration saw; kernels take scale and zero point"},
      {"Quantization", "max", "", "the range that calibration saw; kernels take scale and zero point"},
  };
  return rows;
}

}  // namespace dnn::tflite
