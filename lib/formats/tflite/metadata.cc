// Metadata; see metadata.h.
#include "formats/tflite/metadata.h"

#include <schemas/tflite_metadata_generated.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/zip.h"
#include "base/zip_write.h"

namespace dnn::tflite {
namespace {

constexpr const char* kLabelFile = "labels.txt";
constexpr uint64_t kMaxLabels = uint64_t{1} << 24;  // bytes of a label file
constexpr uint8_t kNormalization = 1, kFeatures = 1, kImageContent = 2;

std::string entry_of(const Graph& graph, const char* key) {
  for (const auto& [name, text] : graph.metadata) {
    if (name == key) return text;
  }
  return "";
}

// A table of a union, once it is known which it is.
template <class T>
const T* member(const meta::Any* table, Bytes metadata) {
  const auto* result = reinterpret_cast<const T*>(table);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(metadata.data()), metadata.size());
  if (result == nullptr || !result->Verify(verifier)) fail_malformed(kMetadataName, " is damaged");
  return result;
}

// One number per channel; nothing where the list holds neither one nor three.
std::vector<float> channels(const flatbuffers::Vector<float>* list) {
  std::vector<float> result;
  for (size_t i = 0; list != nullptr && i < 3 && (list->size() == 1 || list->size() == 3); ++i) {
    float value;
    std::memcpy(&value, list->Data() + 4 * (list->size() == 1 ? 0 : i), sizeof value);
    if (!std::isfinite(value)) return {};
    result.push_back(value);
  }
  return result;
}

// The pixels' normalisation as the fields that dnn-infer's preprocessing is described by. The format's own library stretches
// images to the network's size.
std::string preprocess_of(const meta::TensorMetadata& input, Bytes metadata) {
  if (input.process_units() == nullptr) return "";
  for (const meta::ProcessUnit* unit : *input.process_units()) {
    if (unit->options_type() != kNormalization) continue;
    const auto* normalization = member<meta::Normalization>(unit->options(), metadata);
    const std::vector<float> mean = channels(normalization->mean()), std = channels(normalization->std());
    if (mean.empty() || std.empty() || std::find(std.begin(), std.end(), 0.0f) != std.end()) continue;
    bool grey = false;
    if (const meta::Content* content = input.content();
        content != nullptr && content->properties_type() == kImageContent) {
      const auto* image = member<meta::ImageProperties>(content->properties(), metadata);
      grey = image->color_space() == meta::ColorSpace::GRAYSCALE;
    }
    return json_text(nlohmann::ordered_json{
        {"name", "custom"}, {"resize", "stretch"}, {"channels", grey ? "grey" : "rgb"}, {"mean", mean}, {"std", std}});
  }
  return "";
}

// The first file of labels that belongs to the output.
std::string label_file_of(const meta::TensorMetadata& output) {
  if (output.associated_files() == nullptr) return "";
  for (const meta::AssociatedFile* file : *output.associated_files()) {
    const bool labels =
        file->type() == meta::FileType::TENSOR_AXIS_LABELS || file->type() == meta::FileType::TENSOR_VALUE_LABELS;
    if (labels && file->name() != nullptr) return file->name()->str();
  }
  return "";
}

std::string content_of(Bytes file, const std::string& name) {
  try {
    const ZipArchive archive(file);
    const ZipArchive::Entry* entry = archive.find(name);
    return entry == nullptr ? "" : archive.read(*entry, kMaxLabels);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    return "";
  }
}

}  // namespace

void read_metadata(Bytes metadata, Bytes file, Graph* graph) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(metadata.data()), metadata.size());
  if (metadata.size() < 8 || !meta::VerifyModelMetadataBuffer(verifier)) fail_malformed(kMetadataName, " is damaged");
  const meta::ModelMetadata& model = *meta::GetModelMetadata(metadata.data());
  if (model.subgraph_metadata() == nullptr || model.subgraph_metadata()->size() == 0) return;
  const meta::SubGraphMetadata& main = *model.subgraph_metadata()->Get(0);
  const auto* inputs = main.input_tensor_metadata();
  const auto* outputs = main.output_tensor_metadata();
  if (entry_of(*graph, "preprocess").empty() && inputs != nullptr && inputs->size() == 1) {
    const std::string preprocess = preprocess_of(*inputs->Get(0), metadata);
    if (!preprocess.empty()) graph->metadata.emplace_back("preprocess", preprocess);
  }
  if (entry_of(*graph, "labels").empty() && outputs != nullptr && outputs->size() > 0) {
    const std::string name = label_file_of(*outputs->Get(0));
    const std::string labels = name.empty() ? "" : content_of(file, name);
    if (!labels.empty() && labels.find('\0') == std::string::npos && is_utf8(labels))
      graph->metadata.emplace_back("labels", labels);
  }
}

std::string metadata_of(const Graph& graph) {
  using flatbuffers::Offset;
  const std::string preprocess = entry_of(graph, "preprocess"), labels = entry_of(graph, "labels");
  std::vector<float> mean, std;
  bool grey = false;
  const auto json = parse_json(preprocess);
  if (json.is_object() && json.contains("mean") && json.contains("std")) {
    try {  // (x * scale / divisor - mean) / std = (x - mean * f) / (std * f) with f = divisor / scale
      const float factor = json.value("divisor", 1.0f) / json.value("scale", 1.0f);
      for (float value : json.at("mean").get<std::vector<float>>()) mean.push_back(value * factor);
      for (float value : json.at("std").get<std::vector<float>>()) std.push_back(value * factor);
      grey = json.value("channels", "rgb") == "grey";
    } catch (const nlohmann::json::exception&) {  // not ours
      mean.clear();
    }
  }
  const bool normalises = !mean.empty() && mean.size() == std.size();
  if ((!normalises && labels.empty()) || graph.inputs.size() != 1 || graph.outputs.empty()) return "";
  flatbuffers::FlatBufferBuilder fbb;
  const auto any = [](auto offset) { return Offset<meta::Any>(offset.o); };
  const auto name = [&](ValueId v) { return fbb.CreateString(graph.value(v).name); };
  std::vector<Offset<meta::ProcessUnit>> units;
  if (normalises) {
    const auto normalization = meta::CreateNormalization(fbb, fbb.CreateVector(mean), fbb.CreateVector(std));
    units.push_back(meta::CreateProcessUnit(fbb, kNormalization, any(normalization)));
  }
  const auto image = meta::CreateImageProperties(fbb, grey ? meta::ColorSpace::GRAYSCALE : meta::ColorSpace::RGB);
  const auto content = meta::CreateContent(fbb, kImageContent, any(image));
  const auto input_name = name(graph.inputs[0]);
  const std::vector<Offset<meta::TensorMetadata>> inputs = {
      meta::CreateTensorMetadata(fbb, input_name, 0, 0, content, fbb.CreateVector(units))};
  std::vector<Offset<meta::TensorMetadata>> outputs;
  for (ValueId v : graph.outputs) {
    std::vector<Offset<meta::AssociatedFile>> files;
    if (outputs.empty() && !labels.empty()) {
      files.push_back(
          meta::CreateAssociatedFile(fbb, fbb.CreateString(kLabelFile), 0, meta::FileType::TENSOR_AXIS_LABELS));
    }
    const auto features = meta::CreateContent(fbb, kFeatures, any(meta::CreateAny(fbb)));
    const auto output_name = name(v);
    outputs.push_back(meta::CreateTensorMetadata(fbb, output_name, 0, 0, features, 0, 0, fbb.CreateVector(files)));
  }
  const std::vector<Offset<meta::SubGraphMetadata>> graphs = {
      meta::CreateSubGraphMetadata(fbb, 0, 0, fbb.CreateVector(inputs), fbb.CreateVector(outputs))};
  const auto title = fbb.CreateString(graph.name), version = fbb.CreateString("1.0.0");
  meta::FinishModelMetadataBuffer(
      fbb, meta::CreateModelMetadata(fbb, title, 0, 0, fbb.CreateVector(graphs), 0, 0, 0, version));
  return {reinterpret_cast<const char*>(fbb.GetBufferPointer()), fbb.GetSize()};
}

std::string archive_of(const Graph& graph) {
  const std::string labels = entry_of(graph, "labels");
  if (labels.empty() || metadata_of(graph).empty()) return "";
  ZipWriter zip;
  zip.add(kLabelFile, labels);
  return zip.content().text();
}

}  // namespace dnn::tflite
