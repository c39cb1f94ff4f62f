// Rebuilding tensors from storages; see tensors.h.
#include "formats/torch/tensors.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dnn::torch {
namespace {

using PickleKind = pickle::Kind;
using pickle::kNone;
using pickle::Ref;

struct StorageRow {
  std::string_view name;
  DType dtype;
};
constexpr std::array<StorageRow, 16> kStorages = {{{"FloatStorage", DType::Float32},
                                                   {"DoubleStorage", DType::Float64},
                                                   {"HalfStorage", DType::Float16},
                                                   {"BFloat16Storage", DType::BFloat16},
                                                   {"LongStorage", DType::Int64},
                                                   {"IntStorage", DType::Int32},
                                                   {"ShortStorage", DType::Int16},
                                                   {"CharStorage", DType::Int8},
                                                   {"ByteStorage", DType::UInt8},
                                                   {"BoolStorage", DType::Bool},
                                                   {"QInt8Storage", DType::Int8},
                                                   {"QUInt8Storage", DType::UInt8},
                                                   {"QInt32Storage", DType::Int32},
                                                   {"ComplexFloatStorage", DType::Complex64},
                                                   {"ComplexDoubleStorage", DType::Complex128},
                                                   {"UntypedStorage", DType::UInt8}}};

// Globals besides storages. Calls of them stay nodes of the tree.
constexpr std::array<std::string_view, 30> kGlobals = {"torch._utils _rebuild_tensor",
                                                       "torch._utils _rebuild_tensor_v2",
                                                       "torch._utils _rebuild_parameter",
                                                       "torch._utils _rebuild_qtensor",
                                                       "collections OrderedDict",
                                                       "torch Size",
                                                       "torch device",
                                                       "torch per_tensor_affine",
                                                       "torch per_channel_affine",
                                                       "torch.jit._pickle build_intlist",
                                                       "torch.jit._pickle build_doublelist",
                                                       "torch.jit._pickle build_boollist",
                                                       "torch.jit._pickle build_tensorlist",
                                                       "torch.jit._pickle restore_type_tag",
                                                       "torch float32",
                                                       "torch float64",
                                                       "torch float16",
                                                       "torch bfloat16",
                                                       "torch int64",
                                                       "torch int32",
                                                       "torch uint8",
                                                       "torch int8",
                                                       "torch bool",
                                                       "numpy.core.multiarray scalar",
                                                       "numpy._core.multiarray scalar",
                                                       "numpy dtype",
                                                       "_codecs encode",
                                                       "argparse Namespace",
                                                       "builtins set",
                                                       "__builtin__ set"};

// A tensor of stride 0 may be larger than its storage; up to this many bytes it is believed.
constexpr size_t kSmall = size_t{1} << 20;

void swap_bytes(Tensor& tensor) {
  const size_t size = dtype_size(tensor.dtype()),
               unit = dtype_class(tensor.dtype()) == DTypeClass::Other && size > 1 ? size / 2 : size;
  std::byte* bytes = tensor.mutable_bytes();
  for (size_t i = 0; i + unit <= tensor.size_bytes(); i += unit) std::reverse(bytes + i, bytes + i + unit);
}

bool contiguous(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

}  // namespace

DType storage_dtype(std::string_view global) {
  for (std::string_view prefix : {"torch ", "torch.storage ", "torch.cuda "}) {
    if (!starts_with(global, prefix)) continue;
    for (const StorageRow& row : kStorages) {
      if (global.substr(prefix.size()) == row.name) return row.dtype;
    }
  }
  return DType::Undefined;
}

void check_weight_global(std::string_view module, std::string_view name) {
  const std::string global = cat(module, " ", name);
  if (storage_dtype(global) != DType::Undefined) return;
  if (std::find(kGlobals.begin(), kGlobals.end(), global) != kGlobals.end()) return;
  if (starts_with(module, "torch.nn.") || starts_with(module, "torchvision.") || module == "__main__") {
    fail_unsupported(
        "pickle: it holds an object of the Python class ", module, ".", name,
        ", whose code is not in the file; save the model with torch.jit.trace() or torch.export, or its state_dict()");
  }
  fail_unsupported("pickle: it wants the Python global ", dnn::quoted(cat(module, ".", name)),
                   ", which weights do not need; nothing was run");
}

TensorTable::TensorTable(const pickle::Tree& tree, Load load, std::shared_ptr<const void> owner, bool swapped,
                         size_t file_bytes)
    : tree_(tree), load_(std::move(load)), strided_(std::move(owner), swapped, file_bytes) {}

bool TensorTable::is_tensor(Ref ref) const {
  if (ref == kNone || !tree_.is(ref, PickleKind::Call)) return false;
  const std::string_view callee = tree_.callee(ref);
  return callee == "torch._utils _rebuild_tensor_v2" || callee == "torch._utils _rebuild_tensor" ||
         callee == "torch._utils _rebuild_qtensor" || callee == "torch._utils _rebuild_parameter";
}

const StoredTensor& TensorTable::tensor(Ref ref) {
  const auto found = done_.find(ref);
  if (found != done_.end()) return found->second;
  return done_.emplace(ref, rebuild(ref)).first->second;
}

std::vector<int64_t> TensorTable::integers(Ref ref, std::string_view what) const {
  std::vector<int64_t> result;
  if (tree_.is(ref, PickleKind::Call) && tree_.callee(ref) == "torch Size" && !tree_[tree_[ref].items[1]].items.empty())
    ref = tree_[tree_[ref].items[1]].items[0];
  for (Ref item : tree_.list(ref, what)) result.push_back(tree_.integer(item, what));
  return result;
}

StoredTensor TensorTable::rebuild(Ref ref) {
  if (!is_tensor(ref)) fail_malformed("pickle: a tensor is expected, not ", tree_.callee(ref));
  const std::string_view callee = tree_.callee(ref);
  const std::vector<Ref>& arguments = tree_[tree_[ref].items[1]].items;
  if (callee == "torch._utils _rebuild_parameter") {
    if (arguments.empty()) fail_malformed("pickle: a parameter without a tensor");
    return tensor(arguments[0]);
  }
  if (arguments.size() < 4) fail_malformed("pickle: ", callee, " with ", arguments.size(), " arguments");
  const std::vector<int64_t> sizes = integers(arguments[2], "a tensor's shape");
  const std::vector<int64_t> strides = integers(arguments[3], "a tensor's strides");
  StoredTensor result;
  const Storage from = storage(arguments[0]);
  result.values =
      strided_.read(from.dtype, from.bytes, tree_.integer(arguments[1], "a tensor's offset"), sizes, strides);
  if (callee == "torch._utils _rebuild_qtensor") {
    if (arguments.size() < 5) fail_malformed("pickle: a quantised tensor without its scale");
    quantize(arguments[4], &result);
  }
  return result;
}

Shape TensorTable::shape(Ref ref) const {
  const std::vector<Ref>& arguments = tree_[tree_[ref].items[1]].items;
  if (tree_.callee(ref) == "torch._utils _rebuild_parameter" && !arguments.empty()) return shape(arguments[0]);
  if (arguments.size() < 4) fail_malformed("pickle: a tensor with ", arguments.size(), " arguments");
  Shape sizes = integers(arguments[2], "a tensor's shape");
  element_count(sizes);
  return sizes;
}

DType TensorTable::dtype(Ref ref) const {
  const std::vector<Ref>& arguments = tree_[tree_[ref].items[1]].items;
  if (arguments.empty()) return DType::Undefined;
  if (tree_.callee(ref) == "torch._utils _rebuild_parameter") return dtype(arguments[0]);
  if (!tree_.is(arguments[0], PickleKind::Persistent)) return DType::Undefined;
  const std::vector<Ref>& id = tree_.list(tree_[arguments[0]].items[0], "the id of a storage");
  return id.size() < 2 ? DType::Undefined : storage_dtype(tree_.callee(id[1]));
}

TensorTable::Storage TensorTable::storage(Ref ref) {
  if (!tree_.is(ref, PickleKind::Persistent)) fail_malformed("pickle: a tensor without a storage");
  const std::vector<Ref>& id = tree_.list(tree_[ref].items[0], "the id of a storage");
  if (id.size() < 5 || tree_.text(id[0], "the kind of a persistent id") != "storage")
    fail_malformed("pickle: the id of a storage has ", id.size(), " parts");
  Storage result;
  result.dtype = storage_dtype(tree_.callee(id[1]));
  if (result.dtype == DType::Undefined)
    fail_unsupported("pickle: storages of type ", tree_.callee(id[1]), " are not read");
  std::string key(tree_.text(id[2], "the key of a storage"));
  if (id.size() > 5 && !tree_.is(id[5], PickleKind::None))
    fail_unsupported("pickle: storage ", key, ": a view of another storage is not read");
  const auto found = storages_.find(key);
  result.bytes = found != storages_.end() ? found->second : storages_.emplace(key, load_(key)).first->second;
  const int64_t n = tree_.integer(id[4], "the size of a storage");
  if (n < 0 || static_cast<uint64_t>(n) > result.bytes.size() / dtype_size(result.dtype))
    fail_malformed("storage ", key, ": ", result.bytes.size(), " bytes for ", n, " of ", dtype_name(result.dtype));
  result.bytes = result.bytes.first(n * dtype_size(result.dtype));
  return result;
}

StridedTensors::StridedTensors(std::shared_ptr<const void> owner, bool swapped, size_t file_bytes)
    : owner_(std::move(owner)), swapped_(swapped), budget_(2 * file_bytes + kSmall) {}

Tensor StridedTensors::read(DType dtype, Bytes storage, int64_t offset, const std::vector<int64_t>& sizes,
                            const std::vector<int64_t>& strides) {
  const size_t size = dtype_size(dtype);
  const auto available = static_cast<int64_t>(storage.size() / size);
  if (sizes.size() != strides.size() || sizes.size() > 64)
    fail_malformed("a tensor of shape ", shape_text(sizes), " with ", strides.size(), " strides");
  const int64_t n = element_count(sizes);
  int64_t last = offset;  // the farthest element
  for (size_t i = 0; i < sizes.size() && n > 0; ++i) {
    if (strides[i] < 0 || (sizes[i] > 1 && strides[i] > available / (sizes[i] - 1)))
      fail_malformed("a tensor of shape ", shape_text(sizes), " and strides ", shape_text(strides),
                     " leaves its storage of ", available);
    last += (sizes[i] - 1) * strides[i];
    if (last > available) break;
  }
  if (offset < 0 || (n > 0 && last >= available))
    fail_malformed("a tensor of shape ", shape_text(sizes), " at ", offset, " leaves its storage of ", available);
  if (n == 0) return Tensor(dtype, sizes);
  const std::byte* first = storage.data() + offset * size;
  const size_t n_bytes = n * size;
  const bool plain = contiguous(sizes, strides);
  const size_t alignment = std::min<size_t>(size, 8);
  if (plain && !swapped_ && reinterpret_cast<uintptr_t>(first) % alignment == 0)
    return Tensor::view(dtype, sizes, {first, n_bytes}, owner_);
  if (n > available && n_bytes > kSmall)
    fail_malformed("a tensor of shape ", shape_text(sizes), " in a storage of ", available);
  if (n_bytes > budget_) fail_malformed("its tensors overlap so much that they are larger than the file");
  budget_ -= n_bytes;
  Tensor copy(dtype, sizes);
  std::byte* out = copy.mutable_bytes();
  if (plain) {
    std::memcpy(out, first, n_bytes);
  } else {
    std::vector<int64_t> at(sizes.size());
    for (int64_t i = 0; i < n; ++i) {
      int64_t from = 0;
      for (size_t axis = 0; axis < at.size(); ++axis) from += at[axis] * strides[axis];
      std::memcpy(out + i * size, first + from * size, size);
      for (size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < sizes[axis]) break;
        at[axis] = 0;
      }
    }
  }
  if (swapped_ && size > 1) swap_bytes(copy);
  return copy;
}

void TensorTable::quantize(Ref quantizer, StoredTensor* tensor) {
  const std::vector<Ref>& parts = tree_.list(quantizer, "a quantiser");
  if (parts.empty()) fail_malformed("pickle: an empty quantiser");
  const std::string_view kind = tree_.callee(parts[0]);
  tensor->quantized = true;
  if (kind == "torch per_tensor_affine" && parts.size() >= 3) {
    if (!tree_.is(parts[1], PickleKind::Float)) fail_malformed("pickle: a scale is no number");
    tensor->scales = {tree_[parts[1]].real};
    tensor->zero_points = {tree_.integer(parts[2], "a zero point")};
    return;
  }
  if (kind != "torch per_channel_affine" || parts.size() < 4)
    fail_unsupported("tensors quantised as ", kind, " are not read");
  tensor->axis = tree_.integer(parts[3], "the axis of scales");
  if (!is_tensor(parts[1]) || !is_tensor(parts[2]))
    fail_unsupported("scales per channel that are no tensors are not read");
  tensor->scales = to_doubles(this->tensor(parts[1]).values);
  tensor->zero_points = to_int64s(this->tensor(parts[2]).values);
  const Shape& shape = tensor->values.shape();
  if (tensor->axis < 0 || tensor->axis >= static_cast<int64_t>(shape.size()) ||
      shape[tensor->axis] != static_cast<int64_t>(tensor->scales.size()) ||
      tensor->scales.size() != tensor->zero_points.size())
    fail_malformed("a tensor of shape ", shape_text(shape), " with ", tensor->scales.size(), " scales along axis ",
                   tensor->axis);
}

}  // namespace dnn::torch
