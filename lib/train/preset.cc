// Presets; see preset.h.
#include "train/preset.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "image/dataset.h"

namespace dnn::train {
namespace {

namespace fs = std::filesystem;

bool is_given(const std::vector<std::string>& given, const std::string& option) {
  return std::find(given.begin(), given.end(), option) != given.end();
}

void kenning_pets(const std::vector<std::string>& given, TrainRequest* r) {
  const auto set = [&](const char* option, auto* field, const auto& value) {
    if (!is_given(given, option)) *field = value;
  };
  set("--replace-head", &r->replace_head, std::string("1024:0.5,512:0.5,128:0.5"));
  set("--freeze", &r->freeze, std::vector<std::string>{"*"});
  set("--validate", &r->validate, std::string("0.25"));
  set("--augment", &r->augment, std::string("flip,brightness:0.1,contrast:0.7..1"));
  set("--feature-variants", &r->feature_variants, int64_t{4});
  set("--logdir", &r->logdir, r->output + ".logdir");
  r->histograms = true;
  r->logits = true;
  r->io_spec = true;
  if (!r->preprocess.empty()) return;
  PreprocessOptions& p = r->spelled_out;
  set("--resize", &p.resize, std::string("stretch"));
  set("--scale", &p.scale, std::string("1/255"));
  set("--mean", &p.mean, std::string("0.485,0.456,0.406"));
  set("--std", &p.std, std::string("0.229,0.224,0.225"));
}

}  // namespace

std::vector<std::string> train_preset_names() { return {"kenning-pets"}; }

void apply_preset(const std::string& name, const std::vector<std::string>& given, TrainRequest* request) {
  if (name.empty()) return;
  if (name != "kenning-pets") fail_usage("--preset ", quoted(name), ": choose from ", dnn::join(train_preset_names()));
  kenning_pets(given, request);
}

std::string split_data_folder(const std::vector<std::string>& given, TrainRequest* request) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(request->data, error)) {
    if (entry.is_directory(error) && !is_hidden(entry.path())) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  static const std::set<std::string> kParts = {"test", "train", "val", "valid", "validation"};
  const auto parts =
      std::count_if(names.begin(), names.end(), [](const std::string& name) { return kParts.count(name) != 0; });
  if (parts > 2 && parts == static_cast<std::ptrdiff_t>(names.size()))
    fail_usage("--data ", request->data, ": its folders are ", dnn::join(names),
               ", not classes: give that of train, and --validate");
  if (names.size() != 2) return "";
  const std::string other = names[0] == "train" ? names[1] : names[0];
  const bool splits =
      (names[0] == "train" || names[1] == "train") && (other == "test" || other == "val" || other == "validation");
  if (!splits) return "";
  const fs::path folder = request->data;
  if (!is_given(given, "--validate")) request->validate = (folder / other).string();
  request->data = (folder / "train").string();
  return cat(folder.string(), ": trains on train/",
             is_given(given, "--validate") ? "" : ", validates on " + other + "/");
}

}  // namespace dnn::train
