// Models that are quantised to be compiled; see integer_form.h.
#include "quant/integer_form.h"

#include <filesystem>

namespace dnn::quant {

void declare_calibration(cli::Args& args, QuantizeRequest* o) {
  args.list(&o->calibrate, "--calibrate", "INPUT",
            "for --precision int8: inputs like those the network will see, as dnn-infer's INPUT");
  args.preprocess(&o->preprocess, &o->spelled_out, &o->apply_orientation);
}

void check_calibration(const QuantizeRequest& o, bool in_integers, bool as_file) {
  if (in_integers && o.calibrate.empty())
    fail_usage("--precision int8 wants inputs like those that the network will see: --calibrate INPUT");
  if (in_integers && as_file)
    fail_usage("--precision int8 is for packages without --tune: give these the file that dnn-quantize makes");
  if (!in_integers && (!o.calibrate.empty() || !o.preprocess.empty() || o.spelled_out.any()))
    fail_usage("--calibrate and its preprocessing are for --precision int8");
}

IntegerForm::IntegerForm(const QuantizeRequest& o, const std::string& model, const OpenOptions& open)
    : folder_(std::filesystem::temp_directory_path().string()),
      path_(folder_.path() + "/" + name_stem(model) + ".onnx") {
  QuantizeRequest request = o;
  request.model = model;
  request.output = path_;
  request.surgery.shapes = open.shapes;
  // Calibration runs here as dnn-quantize's does, whatever the package is compiled for: the numbers are those of its file.
  request.options.calibrate.compile = {};
  request.options.calibrate.compile.build.cache_folder = open.compile.build.cache_folder;
  request.options.calibrate.compile.build.key_path = open.compile.build.key_path;
  request.options.calibrate.warn = open.note;
  request.say = open.note;
  quantize_model(request);
}

}  // namespace dnn::quant
