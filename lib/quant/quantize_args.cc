// Options of quantising; see quantize_args.h.
#include "quant/quantize_args.h"

#include <algorithm>
#include <filesystem>

#include "quant/exclusions.h"

namespace dnn::quant {
namespace {

constexpr const char* kPixels = "pixels";

}  // namespace

QuantizeRequest QuantizeArgs::whole_request() const {
  const Scheme& chosen = scheme_named(scheme);
  const auto refuse = [&](std::string_view option, const char* reason) {
    if (std::find(given.begin(), given.end(), option) != given.end())
      fail_usage(option, " says nothing with --scheme ", scheme, ", which ", reason);
  };
  if (chosen.activations == DType::Undefined) refuse("--method", "leaves activations in float32");
  if (chosen.activations != DType::Int8 && chosen.activations != DType::UInt8)
    refuse("--reduce-range", "multiplies no bytes by bytes");
  if (chosen.weights != DType::Int8) refuse("--no-bias-correction", "corrects no biases");
  const auto same = [](const std::string& a, const std::string& b) {
    return std::filesystem::path(a).lexically_normal() == std::filesystem::path(b).lexically_normal();
  };
  std::vector<std::string> written = request.states;
  written.push_back(request.output);
  for (const std::string& path : written) {
    if (!report.empty() && same(report, path)) fail_usage("--report ", report, " is written elsewhere, too");
  }
  QuantizeRequest whole = request;
  whole.options.scheme = scheme_named(scheme);
  whole.options.method = method_named(method);
  whole.options.keep_float = {keep_float.begin(), keep_float.end()};
  whole.options.correct_biases = !no_bias_correction;
  whole.qoperator = form == "qoperator";
  whole.pixels = input_type == kPixels;
  if (!whole.pixels) whole.input_type = dtype_from_name(input_type);
  whole.output_type = dtype_from_name(output_type);
  if (opset) whole.opset = static_cast<int>(*opset);
  whole.shard = Shard::parse(shard);
  whole.most_float = max_float / 100;
  return whole;
}

void declare_quantize(cli::Args& args, QuantizeArgs& o) {
  std::vector<std::string> schemes, methods, tools;
  for (const Scheme& scheme : quant::schemes()) schemes.emplace_back(scheme.name);
  for (const Method& method : quant::methods()) methods.emplace_back(method.name);
  for (const ExclusionTool& tool : exclusion_tools()) tools.emplace_back(tool.name);
  QuantizeRequest& r = o.request;
  args.positional(&r.model, "MODEL", "a float32 model of any format");
  args.option(&r.output, "-o,--output", "FILE", "where the result goes: .onnx, .tflite, .pt or .pt2");
  args.list(&r.calibrate, "--calibrate", "INPUT",
            "inputs like those the network will see, as dnn-infer's INPUT; 100 images suffice");
  args.list(&r.states, "--state", "FILE",
            "keep what calibration saw in a file and go on from it; without --calibrate, add up several");
  args.option(&o.shard, "--shard", "I/N", "calibrate on every N-th input, from the I-th on");
  args.preprocess(&r.preprocess, &r.spelled_out, &r.apply_orientation);
  args.choice(&o.scheme, "--scheme", schemes, "which numbers become integers");
  args.choice(&o.method, "--method", methods, "how the ranges of activations are chosen");
  args.list(&o.keep_float, "--keep-float", "NAME", "leave a node, or what makes a value, in float32");
  args.flag(&o.no_bias_correction, "--no-bias-correction", "leave biases as they are");
  args.flag(&r.options.reduce_range, "--reduce-range",
            "int8 weights within 64: no kernel that adds two products in 16 bits saturates (processors without VNNI)");
  args.flag(
      &r.equalise, "--equalise",
      "scale channels between layers first, so that a value's channels have ranges alike (two runs of the inputs)");
  args.choice(&o.form, "--form", {"qdq", "qoperator"},
              "of ONNX: QuantizeLinear and DequantizeLinear around operators, or operators on integers");
  args.choice(&o.input_type, "--inference-input-type", {"float32", "int8", "uint8", kPixels},
              "of the result's inputs; pixels: the bytes of an image, for which the network does the arithmetic of "
              "--preprocess");
  args.choice(&o.output_type, "--inference-output-type", {"float32", "int8", "uint8"}, "of its outputs");
  args.list(&r.validate, "--validate", "INPUT", "compare labels, and top-1 where classes are known, on these inputs");
  args.option(&r.labels, "--labels", "FILE", "the classes of --validate, one a line, a synset id first where known");
  args.option(
      &r.max_drop, "--max-drop", "X",
      "leave layers in float32 until --validate loses at most X points of top-1 (without classes: percent of labels "
      "changed); exit 1 where none is found",
      0);
  args.option(&o.max_float, "--max-float", "P", "of that at most P percent of the multiply-adds", 0);
  args.seed(&r.seed);
  args.flag(&r.sensitivity, "--sensitivity",
            "print what rounding each layer alone does to the outputs; -o may be left out");
  args.choice(&o.exclusions, "--exclusions", tools, "print the layers left in float32 as that tool takes them");
  args.list(&r.surgery.shapes, "--shape", "NAME:DIMS", "set an input shape, e.g. x:1x3x224x224");
  args.option(&r.surgery.batch, "--batch", "N|NAME",
              "set the first extent of every input, or leave it open under a name");
  args.option(&o.opset, "--opset", "N", "ONNX opset to write (default 17; 21 for int16)", 13);
  args.option(&o.report, "--report", "FILE", "write ranges, scales and losses of every layer as JSON");
  args.threads(&r.options.calibrate.threads);
  args.given(&o.given);
  args.only_with("--labels", {"--validate"});
  args.only_with("--max-float", {"--max-drop"});
  args.only_with("--shard", {"--calibrate"});
}

}  // namespace dnn::quant
