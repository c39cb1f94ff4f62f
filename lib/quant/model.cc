// Quantising a model file; see model.h.
#include "quant/model.h"

#include <algorithm>
#include <filesystem>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "convert/certificate.h"
#include "convert/convert.h"
#include "quant/equalise.h"
#include "quant/guard.h"
#include "quant/io_types.h"
#include "quant/pixels.h"
#include "quant/report.h"
#include "quant/state.h"
#include "quant/storage.h"

namespace dnn::quant {
namespace {

constexpr const char* kTargets = ".onnx, .tflite, .pt or .pt2";
constexpr int kOpsetOfInt16 = 21;  // the first whose QuantizeLinear makes int16
constexpr int kOpsetOfLayerNorms = 17;
constexpr size_t kMostMeasured = 64;  // samples that sensitivity is measured on
constexpr size_t kMostPeaks = 64;     // samples whose peaks equalise by channel
constexpr int64_t kFewSamples = 10;
constexpr int64_t kLeastToWarnOf = 16;  // samples: of fewer, ranges always move

bool holds_layer_norms(const QuantizeRequest& request) {
  return !request.opset || *request.opset >= kOpsetOfLayerNorms;
}

// `keep_float`: names of nodes and values of the file, then of what is quantised.
Graph prepared(const QuantizeRequest& request, const Format* format, std::set<std::string>* keep_float) {
  const Graph model =
      read_to_convert(request.model, format, {.surgery = request.surgery, .warn = request.options.calibrate.warn});
  Graph result = prepare(model, holds_layer_norms(request));
  *keep_float = names_after(model, result, *keep_float);
  return result;
}

class Job {
 public:
  Job(const QuantizeRequest& request, const Format* format)
      : request_(request),
        options_(request.options),
        prepared_(prepared(request, format, &options_.keep_float)),
        bound_(bound_graph(prepared_)),
        inputs_(prepared_, request) {
    options_.fuses = format == find_format("tflite") ? fuses_in_tflite
                     : request.qoperator             ? fuses_in_qoperator
                                                     : fuses_in_onnx;
    options_.factors_around_zero = format == find_format("tflite");
    options_.real_results = options_.fuses == fuses_in_onnx;
    options_.integer_outputs = request.output_type != DType::Float32;
    convert_.write.qoperator = request.qoperator;
    options_.calibrate.keep = request.max_drop || request.sensitivity ? kMostMeasured : 0;
    options_.calibrate.seed = request.seed;
    options_.calibrate.shard = request.shard;
    convert_.warn = options_.calibrate.warn;
    // A certificate compares a file with the graph that it was written from; this one's float32 source is what counts, and
    // validation's question.
    convert_.certify = false;
    if (options_.scheme.activations == DType::Int16)
      convert_.write.opset = std::max(convert_.write.opset, kOpsetOfInt16);
    if (request.opset) convert_.write.opset = *request.opset;
  }

  QuantizedModel run() {
    if (request_.pixels) require_image(bound_);
    if (request_.equalise) equalise_network();
    calibrate_network();
    if (request_.output.empty() && !request_.sensitivity) {
      say(cat(counted(calibration_.samples, "sample"), " in ", request_.states.front()));
      return std::move(result_);
    }
    Reports& reports = result_.reports;
    std::set<NodeId> left_float;
    if (request_.max_drop) left_float = search();
    if (request_.sensitivity && !reports.sensitivity) reports.sensitivity = sensitivity_report(bound_, measure());
    const Rounding rounding = round_network(bound_, calibration_, options_, left_float, &reports.report);
    reports.excluded = excluded_nodes(bound_, rounding.plan);
    Graph quantized = insert_rounding(prepared_, rounding);
    say(summary_text(reports.report));
    if (reports.search && reports.search->searched) {
      say(split_text(*reports.search));
      if (request_.show) request_.show(search_text(*reports.search, request_.output));
    }
    if (request_.validate.empty()) {
      warn("not validated: --validate INPUT counts the labels that change");
    } else if (!reports.validation) {
      Graph after = quantized;
      fix_open_extents(after);
      const std::unique_ptr<SampleSource> source = inputs_.open(request_.validate, "--validate");
      reports.validation = validate(inputs_.graph(), after, *source, inputs_.label_offset(), options_.calibrate);
    }
    if (reports.validation) {
      say(validation_text(*reports.validation));
      if (!request_.labels.empty() && reports.validation->with_truth == 0)
        warn("--validate: no input has a class that --labels knows, so that changed labels are counted");
    }
    if (!request_.output.empty()) {
      set_io_types(quantized, request_.input_type, request_.output_type);
      if (request_.pixels) read_pixels(quantized, preprocess_from_json(preprocess_));
      if (format_for_path(request_.output) == find_format("onnx")) guard_float_layers(quantized);
      convert_model(std::move(quantized), request_.output, convert_);
    }
    return std::move(result_);
  }

 private:
  void say(const std::string& line) const {
    if (request_.say) request_.say(line);
  }
  void warn(const std::string& line) const {
    if (options_.calibrate.warn) options_.calibrate.warn(line);
  }

  void equalise_network() {
    Calibration measured;
    measured.figures = equalised_values(bound_);
    if (measured.figures.empty()) {
      warn("--equalise: no two layers follow one another so that channels can be scaled between them");
      return;
    }
    const std::unique_ptr<SampleSource> source = inputs_.open(request_.calibrate, "--calibrate");
    CalibrateOptions options = options_.calibrate;
    options.keep = 0;
    options.most = kMostPeaks;
    options.warn = nullptr;  // the calibration says it
    calibrate(bound_, *source, options, &measured);
    const int changed = equalise(prepared_, bound_, measured.figures);
    bound_ = bound_graph(prepared_);
    say(cat("equalised the channels of ", counted(changed, "value"), " between layers"));
  }

  void refuse_other_inputs() const {
    if (request_.pixels && preprocess_.empty())
      fail_usage("--inference-input-type pixels: calibrate on images, whose --preprocess the network is to do");
  }

  void calibrate_network() {
    calibration_ = request_.states.empty() ? watch_list(bound_, options_) : whole_watch_list(bound_, options_);
    State state;
    if (request_.calibrate.empty() || (!request_.states.empty() && std::filesystem::exists(request_.states.front()))) {
      for (const std::string& path : request_.states) {
        try {
          merge(&state, read_state(path));
        } catch (Error& error) {
          throw error.kind() == ErrorKind::Usage ? error.within(path) : error;
        }
      }
      if (state.network != fingerprint(bound_))
        fail_usage(request_.states.front(), ": the state is of another network than ", request_.model);
      take_state(bound_, state, &calibration_);
      preprocess_ = state.preprocess;
    }
    if (request_.calibrate.empty()) refuse_other_inputs();
    if (!preprocess_.empty()) {
      const std::string asked = inputs_.asked_preprocess();
      if (!asked.empty() && asked != preprocess_)
        fail_usage(request_.states.front(), ": the state is of another preprocessing: ", preprocess_);
    }
    if (request_.calibrate.empty()) {
      if (calibration_.samples == 0) throw Error(ErrorKind::Negative, "the states hold no calibration sample");
      return;
    }
    const std::unique_ptr<SampleSource> source = inputs_.open(request_.calibrate, "--calibrate", request_.shard);
    preprocess_ = inputs_.preprocess();
    refuse_other_inputs();
    CalibrateOptions options = options_.calibrate;
    if (!request_.states.empty()) {
      if (state.network.empty()) {
        state.network = fingerprint(bound_);
        state.preprocess = inputs_.preprocess();
      }
      if (state.preprocess != inputs_.preprocess())
        fail_usage(request_.states.front(), ": the state is of another preprocessing: ", state.preprocess);
      calibration_.done = state.done(named_here(request_.calibrate));
      options.checkpoint = [&](const Calibration& calibration) { save(state, calibration); };
    }
    calibrate(bound_, *source, options, &calibration_);
    if (calibration_.samples < kFewSamples)
      warn(cat("calibrated on ", counted(calibration_.samples, "input"),
               ": ranges may be too narrow; 100 suffice for most networks"));
    const Movement movement = range_movement(bound_, calibration_, options_);
    if (calibration_.samples >= kLeastToWarnOf && movement.moved * 10 > movement.ranges)
      warn(cat("ranges still move: the last quarter of the inputs changed ", movement.moved, " of ", movement.ranges,
               " by more than a tenth; give more inputs"));
    calibration_.early.clear();
  }

  // `before`: the state that the calibration began with.
  void save(const State& before, const Calibration& calibration) const {
    State now = state_of(bound_, calibration);
    now.network = before.network;
    now.preprocess = before.preprocess;
    now.sources = before.sources;
    SeenInputs here = named_here(request_.calibrate);
    const auto same =
        std::find_if(now.sources.begin(), now.sources.end(), [&](const SeenInputs& s) { return s.is(here); });
    if (same == now.sources.end()) {
      here.done = calibration.done;
      now.sources.push_back(std::move(here));
    } else {
      same->done = calibration.done;
    }
    write_file(request_.states.front(), state_json(now));
  }

  Sensitivity measure() const {
    if (calibration_.kept.empty())
      fail_usage("--sensitivity runs samples, of which the states hold none: give --calibrate or --validate");
    QuantizeReport unused;
    return measure_sensitivity(bound_, round_network(bound_, calibration_, options_, {}, &unused), calibration_.kept,
                               options_.calibrate);
  }

  std::set<NodeId> search() {
    const bool once = std::count(request_.validate.begin(), request_.validate.end(), "-") > 0;
    const auto open = [&] {
      std::unique_ptr<SampleSource> source = inputs_.open(request_.validate, "--validate");
      return OpenedSamples{std::move(source), inputs_.label_offset()};
    };
    const Halves halves(open, once, bound_, request_.seed, options_.calibrate);
    if (calibration_.kept.empty()) {
      calibration_.kept = halves.searching_inputs();
      calibration_.kept.resize(std::min(calibration_.kept.size(), kMostMeasured));
    }
    SearchOptions how;
    how.max_drop = *request_.max_drop;
    how.seed = request_.seed;
    how.most_float = request_.most_float;
    how.size = [&](const Graph& quantized) { return converted_bytes(quantized, request_.output, convert_); };
    SearchResult found = search_layers(
        prepared_, bound_, calibration_, options_, halves, [&] { return measure(); }, how);
    const Trial& best = found.trials[found.best];
    result_.reports.validation = found.searched ? *best.judged : best.all();
    if (found.sensitivity) result_.reports.sensitivity = sensitivity_report(bound_, *found.sensitivity);
    result_.holds = found.holds;
    result_.reports.search = std::move(found);
    return result_.reports.search->trials[result_.reports.search->best].choice.left_float;
  }

  const QuantizeRequest& request_;
  QuantizeOptions options_;
  ConvertOptions convert_;
  Graph prepared_, bound_;
  Inputs inputs_;
  Calibration calibration_;
  std::string preprocess_;  // of what it saw, as JSON; "" where that was no images
  QuantizedModel result_;
};

// Numbers of 16 bits: there is nothing to calibrate.
QuantizedModel store_model(const QuantizeRequest& request, const Format* format) {
  const DType dtype = request.options.scheme.weights;
  const auto& warn = request.options.calibrate.warn;
  const bool tflite = format == find_format("tflite");
  if (tflite && dtype == DType::BFloat16)
    fail_usage("--scheme bfloat16: TFLite has no such weights; give float16, or write .onnx");
  Graph prepared = prepare(read_to_convert(request.model, format, {.surgery = request.surgery, .warn = warn}), false);
  refuse_other_types(bound_graph(prepared));
  ConvertOptions convert;
  convert.warn = warn;
  convert.certify = false;
  if (request.opset) convert.write.opset = *request.opset;
  QuantizedModel result;
  result.reports.report.scheme = request.options.scheme.name;
  if (!request.validate.empty()) {
    Inputs inputs(prepared, request);
    Graph after = bound_graph(prepared);
    if (dtype == DType::Float16 && !tflite) {
      to_dtype(after, dtype, DType::Float32);
    } else {
      store_weights(after, dtype);
    }
    const std::unique_ptr<SampleSource> source = inputs.open(request.validate, "--validate");
    Validation validation = validate(inputs.graph(), after, *source, inputs.label_offset(), request.options.calibrate);
    if (request.say) request.say(validation_text(validation));
    result.holds = !request.max_drop || validation.worst_drop() <= *request.max_drop;
    result.reports.validation = validation;
  }
  if (dtype == DType::Float16) {
    result.reports.report.underflow = float16_underflow(prepared);
    convert.dtype = dtype;
  } else {
    store_weights(prepared, dtype);
  }
  convert_model(std::move(prepared), request.output, convert);
  return result;
}

}  // namespace

QuantizedModel quantize_model(const QuantizeRequest& request) {
  const bool writes = !request.output.empty();
  const bool keeps_state = !request.states.empty() && !request.calibrate.empty();
  if ((!writes && !request.sensitivity && !keeps_state) || request.output == "-")
    fail_usage("where to? give a file with -o: ", kTargets);
  const Format* format = writes ? format_for_path(request.output) : find_format("onnx");
  const std::string target = format == nullptr ? "" : format->name;
  if (target != "onnx" && target != "tflite" && target != "torchscript" && target != "pt2")
    fail_usage(request.output, ": quantised networks are written as ", kTargets);
  const bool integers = request.options.scheme.weights == DType::Int8;
  if (!integers && (!writes || request.sensitivity || !request.states.empty()))
    fail_usage("--scheme ", request.options.scheme.name,
               ": nothing is calibrated; give -o, and neither --state nor --sensitivity");
  if (integers && request.calibrate.empty() && request.states.empty())
    fail_usage("--calibrate: give inputs that are like what the network will see");
  if (keeps_state && request.states.size() > 1)
    fail_usage("--calibrate goes on from one --state; several are added up without it");
  if (request.max_drop && !writes) fail_usage("--max-drop chooses layers for a file: give one with -o");
  if (request.max_drop && request.validate.empty()) fail_usage("--max-drop needs inputs to judge by: --validate");
  if (request.opset && target != "onnx") fail_usage("--opset is for ONNX files");
  if (request.qoperator && target != "onnx") fail_usage("--form qoperator is for ONNX files");
  const DType activations = request.options.scheme.activations;
  const bool bytes = activations == DType::Int8 || activations == DType::UInt8;
  if (request.qoperator && !bytes)
    fail_usage("--form qoperator: operators on integers take int8 and uint8; --scheme ", request.options.scheme.name,
               " has the form qdq");
  if ((request.input_type != DType::Float32 || request.output_type != DType::Float32) && !bytes)
    fail_usage("--inference-input-type and --inference-output-type: integers need --scheme int8 or uint8");
  if (request.pixels && !integers)
    fail_usage("--inference-input-type pixels: --scheme ", request.options.scheme.name, " looks at no images");
  if (!integers && !request.options.keep_float.empty())
    fail_usage("--keep-float: --scheme ", request.options.scheme.name,
               " stores all weights alike; int8 leaves layers out");
  if (request.equalise && (!integers || !request.states.empty()))
    fail_usage("--equalise runs the inputs of --calibrate before their ranges are looked at: it goes with neither ",
               "--state nor 16 bits");
  if (request.equalise && std::count(request.calibrate.begin(), request.calibrate.end(), "-") > 0)
    fail_usage("--equalise runs the inputs twice, which standard input cannot give: name files");
  if (!integers) return store_model(request, format);
  if (target != "tflite" || activations != DType::UInt8) return Job(request, format).run();
  QuantizeRequest as_written = request;
  as_written.options.scheme = scheme_named("int8");
  if (as_written.options.calibrate.warn)
    as_written.options.calibrate.warn("--scheme uint8: TFLite holds activations as int8, the same numbers less 128");
  return Job(as_written, format).run();
}

}  // namespace dnn::quant
