// Opening Keras' files; see archive.h.
#include "formats/keras/archive.h"

#include <algorithm>
#include <set>

#include "base/crc.h"
#include "base/zip.h"
#include "formats/wire/hdf5.h"

namespace dnn::keras {
namespace {

// The number in front of the first dot; 2 where there is none.
int major_version(const std::string& version) {
  int64_t number = 2;
  const bool known = parse_int(split(version, '.')[0], &number);
  return known && number >= 1 ? static_cast<int>(std::min<int64_t>(number, 3)) : 2;
}

void read_metadata(const Json& json, Archive* archive) {
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (value.is_string()) archive->metadata.emplace_back(key, value.get<std::string>());
  }
}

// A text attribute, or "" where it is missing.
std::string text_or(const hdf5::Object& object, const char* name) {
  return object.has_attribute(name) ? object.text(name) : "";
}

// Reads a dataset of weights; errors name it.
Tensor read_weight(const hdf5::Object& group, std::string_view path) {
  try {
    const std::optional<hdf5::Object> dataset = group.member(path);
    if (!dataset) fail_malformed("it is missing");
    return dataset->read();
  } catch (Error& error) {
    throw error.within(cat("weights '", path, "'"));
  }
}

// A long list lies in name0, name1, ...
std::vector<std::string> texts_of(const hdf5::Object& object, const std::string& name) {
  std::vector<std::string> result;
  const auto add = [&](const std::string& attribute) {
    for (std::string_view text : object.texts(attribute)) result.emplace_back(text);
  };
  if (object.has_attribute(name)) {
    add(name);
    return result;
  }
  for (int i = 0; object.has_attribute(cat(name, i)); ++i) add(cat(name, i));
  return result;
}

std::string without_number(std::string name) {
  if (ends_with(name, ":0")) name.resize(name.size() - 2);
  return name;
}

constexpr size_t kMostParts = 32;  // of a weight's path that are looked at

// Gives the layers of a nested model those of its weights whose path has the layer's name in it.
void share_out(Model& model, std::vector<Weight>& all) {
  std::map<std::string, Layer*> by_name;
  for (Layer& layer : model.layers) {
    if (layer.model != nullptr) {
      share_out(*layer.model, all);
    } else {
      by_name[layer.name] = &layer;
    }
  }
  for (Weight& weight : all) {
    if (!weight.value.defined()) continue;
    const std::vector<std::string> parts = split(weight.name, '/');
    const auto joined = [&](size_t from, size_t to) {
      return join(std::vector<std::string>(parts.begin() + static_cast<std::ptrdiff_t>(from),
                                           parts.begin() + static_cast<std::ptrdiff_t>(to)),
                  "/");
    };
    // A layer's own name may have slashes: the last place where one ends, and the longest there.
    for (size_t end = std::min<size_t>(parts.size(), kMostParts); end-- > 1 && weight.value.defined();) {
      for (size_t begin = 0; begin < end && weight.value.defined(); ++begin) {
        const auto found = by_name.find(joined(begin, end));
        if (found == by_name.end()) continue;
        weight.role = without_number(joined(end, parts.size()));
        found->second->weights.push_back(weight);
        weight.value = Tensor();
      }
    }
  }
}

void load_h5(const hdf5::Object& root, Model& model) {
  const std::set<std::string> stored = [&] {
    std::set<std::string> names;
    for (std::string& name : texts_of(root, "layer_names")) names.insert(std::move(name));
    return names;
  }();
  for (Layer& layer : model.layers) {
    if (stored.count(layer.name) == 0) continue;
    const std::optional<hdf5::Object> group = root.member(layer.name);
    if (!group) fail_malformed(layer.label(), ": its weights are missing");
    std::vector<Weight> weights;
    for (const std::string& name : texts_of(*group, "weight_names")) {
      Weight weight;
      weight.name = name;
      const size_t slash = name.find('/');
      weight.role = without_number(slash == std::string::npos ? name : name.substr(slash + 1));
      weight.value = read_weight(*group, name);
      weights.push_back(std::move(weight));
    }
    if (layer.model == nullptr) {
      layer.weights = std::move(weights);
      continue;
    }
    share_out(*layer.model, weights);
    for (const Weight& weight : weights) {
      if (weight.value.defined()) fail_malformed(layer.label(), ": its weights '", weight.name, "' belong to no layer");
    }
  }
}

// vars/0, vars/1, ... of a group, then those of the groups inside.
void collect_vars(const hdf5::Object& group, const std::string& prefix, int depth, std::vector<Weight>* out) {
  if (depth > 8) fail_unsupported("weights nested deeper than 8 groups");
  for (std::string_view name : group.names()) {
    const std::optional<hdf5::Object> member = group.member(name);
    if (!member || member->is_dataset() || name == "seed_generator") continue;
    if (name != "vars") {
      collect_vars(*member, cat(prefix, name, "/"), depth + 1, out);
      continue;
    }
    const std::vector<std::string_view> vars = member->names();
    for (size_t i = 0; i < vars.size(); ++i) {
      Weight weight;
      weight.role = cat(prefix, i);
      weight.value = read_weight(*member, cat(i));
      const std::optional<hdf5::Object> dataset = member->member(cat(i));
      if (dataset && dataset->has_attribute("name")) weight.name = dataset->text("name");
      out->push_back(std::move(weight));
    }
  }
}

void load_layers(const hdf5::Object& group, Model& model, int depth);

// Weights of one layer, from its group.
void load_layer(const hdf5::Object& own, Layer& layer, int depth) {
  if (layer.model != nullptr) return load_layers(own, *layer.model, depth + 1);
  if (layer.inner.empty()) return collect_vars(own, "", 0, &layer.weights);
  if (depth > 32) fail_unsupported("layers nested deeper than 32");
  const bool both = layer.inner.size() == 2;
  for (size_t i = 0; i < layer.inner.size(); ++i) {
    if (const auto group = own.member(!both ? "layer" : i == 0 ? "forward_layer" : "backward_layer"))
      load_layer(*group, layer.inner[i], depth + 1);
  }
}

void load_layers(const hdf5::Object& group, Model& model, int depth) {
  if (depth > 32) fail_unsupported("models nested deeper than 32");
  std::optional<hdf5::Object> layers = group.member("layers");
  if (!layers) layers = group.member("_layer_checkpoint_dependencies");
  std::map<std::string, int> used;
  for (Layer& layer : model.layers) {
    if (starts_with(layer.module, "keras.src.ops")) continue;  // an operation, which is no layer
    // Groups are called by the class in Keras' own code, whose name it exports shortened here.
    const bool grouped = layer.class_name == "GroupQueryAttention";
    const std::string name = snake_case(grouped ? "GroupedQueryAttention" : layer.class_name);
    const int n = used[name]++;
    if (!layers) continue;
    const std::optional<hdf5::Object> own = layers->member(n == 0 ? name : cat(name, "_", n));
    if (own) load_layer(*own, layer, depth);
  }
}

// Hands the weights of an .h5 file's wrappers down to the layers that they call, in the order of the file: Bidirectional's
// first half goes forwards.
void hand_down(Model& model) {
  for (Layer& layer : model.layers) {
    if (layer.model != nullptr) hand_down(*layer.model);
    if (layer.inner.empty()) continue;
    std::vector<Weight> weights;
    for (Weight& weight : layer.weights) {
      if (weight.name.find("seed_generator") == std::string::npos) weights.push_back(std::move(weight));
    }
    layer.weights.clear();
    const size_t n = layer.inner.size();
    if (weights.size() % n != 0) fail_malformed(layer.label(), ": ", weights.size(), " weights for ", n, " layers");
    for (size_t i = 0; i < n; ++i) {
      Layer& inner = layer.inner[i];
      const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(i * (weights.size() / n));
      inner.weights.assign(begin, begin + static_cast<std::ptrdiff_t>(weights.size() / n));
      if (inner.model != nullptr) {
        share_out(*inner.model, inner.weights);
        hand_down(*inner.model);
      }
    }
    Model within;  // wrappers of wrappers
    within.layers = std::move(layer.inner);
    hand_down(within);
    layer.inner = std::move(within.layers);
  }
}

}  // namespace

std::string snake_case(const std::string& name) {
  std::string first, second;
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  std::string word;
  for (char c : name) {
    if (upper(c) || lower(c) || (c >= '0' && c <= '9') || c == '_') word.push_back(c);
  }
  for (size_t i = 0; i < word.size(); ++i) {  // a capital that small letters follow begins a word
    if (i > 0 && upper(word[i]) && i + 1 < word.size() && lower(word[i + 1]) && first.size() > 0) first.push_back('_');
    first.push_back(word[i]);
  }
  for (size_t i = 0; i < first.size(); ++i) {  // so does one behind a small letter
    if (i > 0 && upper(first[i]) && lower(first[i - 1])) second.push_back('_');
    second.push_back(upper(first[i]) ? static_cast<char>(first[i] - 'A' + 'a') : first[i]);
  }
  return second;
}

Archive open_h5(const ModelSource& source) {
  hdf5::File file(source.bytes, source.owner);
  const hdf5::Object root = file.root();
  if (!root.has_attribute("model_config")) {
    if (root.has_attribute("layer_names") || root.member("layers"))
      fail_unsupported("the file holds weights without a model: it has no attribute 'model_config'");
    fail_unsupported("an HDF5 file, but no Keras model: it has no attribute 'model_config'");
  }
  Archive archive;
  std::optional<hdf5::Object> weights = root.member("model_weights");
  if (!weights) weights = root;
  std::string version = text_or(root, "keras_version");
  if (version.empty()) version = text_or(*weights, "keras_version");
  archive.version = version.empty() ? 1 : major_version(version);
  archive.producer = "keras " + version;
  archive.model = model_of(parse_json(root.text("model_config"), "model_config"), archive.version, source.ignored);
  archive.flips_kernels = text_or(root, "backend") == "theano";
  if (root.has_attribute(kMetadataKey)) read_metadata(parse_json(root.text(kMetadataKey), kMetadataKey), &archive);
  load_h5(*weights, archive.model);
  hand_down(archive.model);
  return archive;
}

Archive open_zip(const ModelSource& source) {
  const ZipArchive zip(source.bytes);
  constexpr uint64_t kMostText = uint64_t{1} << 24;
  const auto entry = [&](const char* name) {
    const ZipArchive::Entry* found = zip.find(name);
    if (found == nullptr) fail_malformed("a .keras file without ", name);
    return found;
  };
  Archive archive;
  archive.version = 3;
  if (const ZipArchive::Entry* about = zip.find("metadata.json")) {
    const Json json = parse_json(zip.read(*about, kMostText), "metadata.json");
    const auto version = json.find("keras_version");
    if (json.is_object() && version != json.end() && version->is_string()) {
      archive.version = major_version(version->get<std::string>());
      archive.producer = "keras " + version->get<std::string>();
    }
    if (json.is_object() && json.contains(kMetadataKey)) read_metadata(json[kMetadataKey], &archive);
  }
  archive.model =
      model_of(parse_json(zip.read(*entry("config.json"), kMostText), "config.json"), archive.version, source.ignored);
  if (zip.find("model.weights.h5") == nullptr && zip.find("model.weights.json") != nullptr)
    fail_unsupported("weights in several files (model.weights.json); save the model without max_shard_size");
  const ZipArchive::Entry* weights = entry("model.weights.h5");
  Bytes bytes;
  std::shared_ptr<const void> owner = source.owner;
  if (weights->method == 0) {
    bytes = zip.packed(*weights);
    if (zip_crc32(bytes) != weights->crc32) fail_malformed("model.weights.h5: its checksum is wrong");
  } else {
    const uint64_t most = 2 * uint64_t{source.bytes.size()} + (uint64_t{1} << 27);
    const auto text = std::make_shared<const std::string>(zip.read(*weights, most));
    bytes = as_bytes(*text);
    owner = text;
  }
  hdf5::File file(bytes, owner);
  load_layers(file.root(), archive.model, 0);
  return archive;
}

}  // namespace dnn::keras
