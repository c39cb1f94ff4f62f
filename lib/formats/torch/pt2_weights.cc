// Weights of exported programs; see pt2_weights.h.
#include "formats/torch/pt2_weights.h"

#include "formats/torch/import.h"

namespace dnn::pt2 {
namespace {

using torch::Json;
using torch::member;
using torch::StoredTensor;

std::vector<int64_t> fixed_sizes(const Json& list, std::string_view what) {
  std::vector<int64_t> result;
  for (const Json& size : torch::array(list, what)) result.push_back(torch::integer(member(size, "as_int"), what));
  return result;
}

// A folder of raw storages, which a JSON lists.
class RawWeights : public Weights {
 public:
  RawWeights(torch::Archive& archive, const std::string& folder, const std::string& config,
             torch::StridedTensors& tensors)
      : archive_(archive), folder_(folder), tensors_(tensors) {
    if (archive.has(folder + config)) json_ = torch::parse_json(archive.text(folder + config), config);
  }

  const StoredTensor* find(const std::string& name) override {
    const auto done = done_.find(name);
    if (done != done_.end()) return &done->second;
    const Json* config = torch::find_member(json_, "config");
    const Json* entry = config == nullptr ? nullptr : torch::find_member(*config, name.c_str());
    if (entry == nullptr) return nullptr;
    const Json* pickled = torch::find_member(*entry, "use_pickle");
    if (pickled != nullptr && *pickled == Json(true)) fail_unsupported("'", name, "' is pickled, which is not read");
    const Json& meta = member(*entry, "tensor_meta");
    const Bytes bytes = archive_.bytes(folder_ + torch::text(member(*entry, "path_name"), "path_name"));
    StoredTensor tensor;
    tensor.values = tensors_.read(
        dtype_of(meta), bytes, torch::integer(member(member(meta, "storage_offset"), "as_int"), "an offset"),
        fixed_sizes(member(meta, "sizes"), "a size"), fixed_sizes(member(meta, "strides"), "a stride"));
    return &done_.emplace(name, std::move(tensor)).first->second;
  }

 private:
  torch::Archive& archive_;
  std::string folder_;
  torch::StridedTensors& tensors_;
  Json json_;
  std::map<std::string, StoredTensor> done_;
};

// A dictionary that torch.save wrote into the archive.
class SavedWeights : public Weights {
 public:
  explicit SavedWeights(const SharedBytes& file)
      : archive_(file.bytes, file.owner),
        text_(archive_.text("data.pkl")),
        tree_(pickle::parse(as_bytes(text_), torch::check_weight_global)),
        tensors_(
            tree_, [this](const std::string& key) { return archive_.bytes("data/" + key); }, archive_.owner(),
            archive_.big_endian(), file.bytes.size()) {}

  const StoredTensor* find(const std::string& name) override {
    const pickle::Ref ref = tree_.find(tree_.root, name);
    return ref == pickle::kNone ? nullptr : &tensors_.tensor(ref);
  }

 private:
  torch::Archive archive_;
  std::string text_;
  pickle::Tree tree_;
  torch::TensorTable tensors_;
};

}  // namespace

int64_t torch_code(int64_t code) {
  switch (code) {
    case 1: return 0;
    case 2: return 1;
    case 3: return 2;
    case 4: return 3;
    case 5: return 4;
    case 6: return 5;
    case 7: return 6;
    case 8: return 7;
    case 12: return 11;
    case 13: return 15;
    default: fail_unsupported("element type ", code, " is not read");
  }
}

DType dtype_of(const Json& meta) {
  return torch::dtype_of_code(torch_code(torch::integer(member(meta, "dtype"), "a dtype")));
}

std::vector<std::unique_ptr<Weights>> open_weights(torch::Archive& archive, torch::StridedTensors& tensors, bool old) {
  std::vector<std::unique_ptr<Weights>> weights;
  if (old) {
    for (const char* record : {"serialized_state_dict.pt", "serialized_constants.pt"}) {
      if (archive.has(record) && !archive.bytes(record).empty())
        weights.push_back(std::make_unique<SavedWeights>(SharedBytes{archive.bytes(record), archive.owner()}));
    }
  } else {
    weights.push_back(std::make_unique<RawWeights>(archive, "data/weights/", "model_weights_config.json", tensors));
    weights.push_back(std::make_unique<RawWeights>(archive, "data/constants/", "model_constants_config.json", tensors));
  }
  return weights;
}

}  // namespace dnn::pt2
