// State dicts: torch.save's zip, and the stream of pickles that it wrote before 1.6; see weights.h.
#include <algorithm>
#include <array>

#include "formats/torch/archive.h"
#include "formats/torch/tensors.h"
#include "formats/torch/weights.h"

namespace dnn::torch {

void add_weight(Graph& graph, const std::string& name, Tensor tensor) {
  if (name.empty()) fail_malformed("a tensor without a name");
  graph.add_constant(name, std::move(tensor));
}

}  // namespace dnn::torch

namespace dnn::statedict {
namespace {

using pickle::Kind;
using pickle::kNone;
using pickle::Ref;

// Where a checkpoint keeps the weights, by how common it is.
constexpr std::array<std::string_view, 9> kInner = {"state_dict", "model_state_dict", "model_state", "model",    "net",
                                                    "weights",    "params",           "state_dicts", "model_ema"};
constexpr std::string_view kMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);
constexpr std::string_view kModulePrefix = "module.";

bool is_dict(const pickle::Tree& tree, Ref ref) {
  return tree.is(ref, Kind::Dict) || (tree.is(ref, Kind::Call) && tree.callee(ref) == "collections OrderedDict");
}

size_t count_tensors(const pickle::Tree& tree, const torch::TensorTable& tensors, Ref dict) {
  const auto pairs = tree.pairs(dict);
  return std::count_if(pairs.begin(), pairs.end(), [&](const auto& pair) {
    return tree.is(pair.first, Kind::String) && tensors.is_tensor(pair.second);
  });
}

// The dictionary of tensors: the root, or what a checkpoint has under a usual name.
Ref find_weights(const pickle::Tree& tree, const torch::TensorTable& tensors) {
  if (tensors.is_tensor(tree.root)) fail_unsupported("it holds one tensor, no state dict");
  if (!is_dict(tree, tree.root)) fail_unsupported("it holds no dictionary of tensors; save a model's state_dict()");
  for (std::string_view key : kInner) {
    const Ref inner = tree.find(tree.root, key);
    if (inner != kNone && is_dict(tree, inner) && count_tensors(tree, tensors, inner) > 0) return inner;
  }
  if (count_tensors(tree, tensors, tree.root) > 0) return tree.root;
  fail_unsupported("its dictionary holds no tensors; a checkpoint has them under ", join(kInner));
}

Graph weights(const pickle::Tree& tree, torch::TensorTable& tensors) {
  Graph graph;
  graph.producer = "torch.save";
  const auto pairs = tree.pairs(find_weights(tree, tensors));
  bool wrapped = true;  // by DataParallel
  for (const auto& [key, value] : pairs) {
    if (tensors.is_tensor(value)) wrapped = wrapped && starts_with(tree.text(key, "a tensor's name"), kModulePrefix);
  }
  for (const auto& [key, value] : pairs) {
    if (!tensors.is_tensor(value)) continue;
    std::string name(tree.text(key, "a tensor's name"));
    if (wrapped) name.erase(0, kModulePrefix.size());
    try {
      const torch::StoredTensor& tensor = tensors.tensor(value);
      if (tensor.quantized) fail_unsupported("a quantised tensor outside a model is not read");
      torch::add_weight(graph, name, tensor.values);
    } catch (Error& e) {
      throw e.within(dnn::quoted(name));
    }
  }
  verify(graph);
  return graph;
}

Graph read_zip(const ModelSource& source) {
  torch::Archive archive(source.bytes, source.owner);
  const std::string text = archive.text("data.pkl");
  const pickle::Tree tree = pickle::parse(as_bytes(text), torch::check_weight_global);
  torch::TensorTable tensors(
      tree, [&](const std::string& key) { return archive.bytes("data/" + key); }, archive.owner(), archive.big_endian(),
      source.bytes.size());
  return weights(tree, tensors);
}

// Magic number, protocol, system, object, keys, each a pickle; then by key its element count and bytes.
Graph read_stream(const ModelSource& source) {
  Bytes rest = source.bytes;
  const auto next = [&] {
    size_t end = 0;
    pickle::Tree tree = pickle::parse(rest, torch::check_weight_global, &end);
    rest = rest.subspan(end);
    return tree;
  };
  next();
  const pickle::Tree protocol = next();
  if (protocol.integer(protocol.root, "the protocol") != 1001)
    fail_unsupported("torch.save's protocol ", protocol.integer(protocol.root, "the protocol"), "; 1001 is read");
  const pickle::Tree system = next();
  const Ref little = system.find(system.root, "little_endian");
  const bool swapped = little != kNone && system.integer(little, "little_endian") == 0;
  const pickle::Tree tree = next();
  const pickle::Tree keys = next();
  std::unordered_map<std::string, DType> dtypes;
  for (size_t i = 0; i < tree.size(); ++i) {
    const pickle::Node& node = tree[static_cast<Ref>(i)];
    if (node.kind != Kind::Persistent) continue;
    const std::vector<Ref>& id = tree.list(node.items[0], "the id of a storage");
    if (id.size() > 2)
      dtypes[std::string(tree.text(id[2], "the key of a storage"))] = torch::storage_dtype(tree.callee(id[1]));
  }
  std::unordered_map<std::string, Bytes> storages;
  ByteReader in(rest, "the storages");
  for (Ref ref : keys.list(keys.root, "the keys of the storages")) {
    const std::string key(keys.text(ref, "the key of a storage"));
    const auto dtype = dtypes.find(key);
    if (dtype == dtypes.end() || dtype->second == DType::Undefined)
      fail_unsupported("storage ", dnn::quoted(key), " has no type that is read");
    const auto n = in.little_endian<int64_t>();
    const size_t size = dtype_size(dtype->second);
    if (n < 0 || static_cast<uint64_t>(n) > in.remaining() / size)
      fail_malformed("storage ", dnn::quoted(key), " of ", n, " elements: ", in.remaining(), " bytes are left");
    storages[key] = in.take(static_cast<size_t>(n) * size);
  }
  torch::TensorTable tensors(
      tree,
      [&](const std::string& key) {
        const auto found = storages.find(key);
        if (found == storages.end()) fail_malformed("there is no storage ", dnn::quoted(key));
        return found->second;
      },
      source.owner, swapped, source.bytes.size());
  return weights(tree, tensors);
}

// Pickles of protocol 0 have no mark of their own: one that runs to its end, or to a global that is refused, is one.
bool is_old_pickle(Bytes bytes) {
  constexpr size_t kMost = size_t{1} << 20;
  if (bytes.size() < 3 || bytes.size() > kMost) return false;
  try {
    pickle::parse(bytes, torch::check_weight_global);
    return true;
  } catch (const Error& e) {
    return e.kind() == ErrorKind::Unsupported;
  }
}

}  // namespace

bool sniff(const ModelSource& source) {
  const std::string_view text = as_text(source.bytes);
  if (torch::is_zip(source.bytes))
    return torch::has_record(source.bytes, "data.pkl") && !torch::has_record(source.bytes, "constants.pkl");
  return (text.size() >= 4 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5) || is_old_pickle(source.bytes);
}

Graph read(const ModelSource& source) {
  if (torch::is_zip(source.bytes)) return read_zip(source);
  if (starts_with(as_text(source.bytes), kMagic)) return read_stream(source);
  pickle::parse(source.bytes, torch::check_weight_global);
  fail_unsupported("a pickle, but none that torch.save wrote");
}

}  // namespace dnn::statedict
