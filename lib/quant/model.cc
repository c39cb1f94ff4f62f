// Quantising a model file; see model.h.
#include "quant/model.h"

#include <algorithm>

#include "base/error.h"
#include "convert/certificate.h"
#include "convert/convert.h"
#include "convert/probes.h"
#include "infer/setup.h"
#include "quant/report.h"

namespace dnn::quant {
namespace {

constexpr int kOpsetOfInt16 = 21;  // the first whose QuantizeLinear makes int16

// Opens inputs as samples of one network.
class Inputs {
 public:
  Inputs(const Graph& prepared, const QuantizeRequest& request)
      : request_(request), package_(package_of(prepared)), plan_(plan_batch(package_)) {
    if (plan_.batch != 1)
      fail_usage(request.model, ": its batch is fixed at ", plan_.batch,
                 "; give --batch 1, or --batch n to leave it open");
  }

  const Graph& graph() const { return package_.graph(); }  // every extent fixed
  int64_t label_offset() const { return label_offset_; }   // of the inputs opened last

  std::unique_ptr<SampleSource> open(const std::vector<std::string>& inputs, const char* option) {
    SourceOptions source;
    source.inputs = inputs;
    if (names_images(inputs)) {
      source.preprocess =
          choose_preprocess(package_, plan_, request_.preprocess, request_.spelled_out, request_.apply_orientation);
      if (!source.preprocess) fail_usage(option, ": images need a --preprocess: ", join(preprocess_names()));
      const RunLabels labels = choose_labels(package_, request_.labels, inputs, class_count(package_, plan_, ""));
      source.labels = labels.set;
      source.label_offset = label_offset_ = labels.offset;
    }
    return open_samples(source, plan_);
  }

 private:
  const QuantizeRequest& request_;
  Package package_;
  BatchPlan plan_;
  int64_t label_offset_ = 0;
};

}  // namespace

QuantizedModel quantize_model(const QuantizeRequest& request) {
  if (request.output.empty() || request.output == "-") fail_usage("where to? give a file with -o: .onnx or .tflite");
  const Format* format = format_for_path(request.output);
  const std::string target = format == nullptr ? "" : format->name;
  if (target != "onnx" && target != "tflite")
    fail_usage(request.output, ": quantised networks are written as .onnx or .tflite");
  if (request.calibrate.empty()) fail_usage("--calibrate: give inputs that are like what the network will see");
  if (request.max_drop && request.validate.empty()) fail_usage("--max-drop needs inputs to judge by: --validate");
  if (request.opset && target != "onnx") fail_usage("--opset is for ONNX files");

  QuantizeOptions options = request.options;
  options.for_tflite = target == "tflite";
  const auto& warn = options.calibrate.warn;
  const Graph prepared = prepare(read_to_convert(request.model, format, {.surgery = request.surgery, .warn = warn}));
  Inputs inputs(prepared, request);
  QuantizedModel result;
  const auto say = [&](const std::string& line) {
    if (request.say) request.say(line);
  };
  Graph quantized = quantize(prepared, *inputs.open(request.calibrate, "--calibrate"), options, &result.report);
  say(summary_text(result.report));
  if (request.validate.empty()) {
    if (warn) warn("not validated: --validate INPUT counts the labels that change");
  } else {
    Graph after = quantized;
    fix_open_extents(after);
    const std::unique_ptr<SampleSource> source = inputs.open(request.validate, "--validate");
    result.validation = validate(inputs.graph(), after, *source, inputs.label_offset(), options.calibrate);
    say(validation_text(*result.validation));
    if (request.max_drop && result.validation->drop() > *request.max_drop) return result;
  }
  ConvertOptions convert;
  convert.warn = warn;
  // A certificate compares a file with the graph that it was written from; this one's float32 source is what counts, and
  // validation's question.
  convert.certify = false;
  if (options.scheme.activations == DType::Int16) convert.write.opset = std::max(convert.write.opset, kOpsetOfInt16);
  if (request.opset) convert.write.opset = *request.opset;
  convert_model(std::move(quantized), request.output, convert);
  result.written = true;
  return result;
}

}  // namespace dnn::quant
