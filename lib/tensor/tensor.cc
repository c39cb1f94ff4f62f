// Tensor; see tensor.h.
#include "tensor/tensor.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/text.h"
#include "tensor/budget.h"
#include "tensor/transpose.h"

namespace dnn {
namespace {

constexpr size_t kAlignment = 64;
// From here on a tensor has pages of its own, which go back with it: the heap would keep them between what stays. They may
// be large ones: a page fault costs as much as what a small page is for.
constexpr size_t kMapFrom = size_t{1} << 20, kLargePage = size_t{2} << 20;
constexpr size_t kPage = size_t{64} << 10;       // a multiple of every system's
constexpr size_t kDeferFrom = size_t{64} << 10;  // smaller ones are arranged at once

constexpr uint64_t kMaxBytes = uint64_t{1} << 46;

// Refuses what no machine holds, so that the size in bytes can be computed.
void check_size(DType dtype, const Shape& shape, int64_t size) {
  const uint64_t element = dtype == DType::String ? sizeof(std::string) : dtype_size(dtype);
  if (static_cast<uint64_t>(size) > kMaxBytes / element)
    fail_malformed("a tensor of ", dtype_name(dtype), shape_text(shape), " does not fit in memory");
}

[[noreturn]] void fail_memory(size_t n, DType dtype, const Shape& shape) {
  fail_environment("not enough memory for a tensor of ", dtype_name(dtype), shape_text(shape), ", ", n, " bytes");
}

// Memory of n bytes, all 0.
std::shared_ptr<std::byte> allocate(size_t n, DType dtype, const Shape& shape) {
  const TensorBudget::Held held = TensorBudget::take(n);
  const auto end = [held, n] {
    if (held) held->fetch_sub(n, std::memory_order_relaxed);
  };
  if (n >= kMapFrom) {
    // One that may hold a large page begins at one: a page fault in place of 512. What is mapped beside it goes back at once.
    const size_t whole = (n + kPage - 1) / kPage * kPage, room = n >= kLargePage ? whole + kLargePage : whole;
    void* const memory = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail_memory(n, dtype, shape);
    auto* begin = static_cast<std::byte*>(memory);
    if (room > whole) {
      const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
      if (before > 0) ::munmap(begin, before);
      begin += before;
      ::munmap(begin + whole, kLargePage - before);
    }
    ::madvise(begin, n, MADV_HUGEPAGE);
    return {begin, [whole, end](std::byte* p) { ::munmap(p, whole), end(); }};
  }
  const size_t rounded = (n + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) fail_memory(n, dtype, shape);
  std::memset(memory, 0, rounded);
  return {static_cast<std::byte*>(memory), [end](std::byte* p) { std::free(p), end(); }};
}

bool stored_as_byte(DType dtype) { return dtype_size(dtype) == 1; }

}  // namespace

int64_t element_count(const Shape& shape) {
  int64_t n = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) fail_malformed("shape ", shape_text(shape), " has a negative extent");
    empty = empty || extent == 0;
    // An extent of 0 does not excuse the others: strides are products of some of them.
    if (extent != 0 && (__builtin_mul_overflow(n, extent, &n) || n > (int64_t{1} << 62))) {
      fail_malformed("shape ", shape_text(shape), " has too many elements");
    }
  }
  return empty ? 0 : n;
}

std::string shape_text(const Shape& shape) { return "[" + join(shape, ",") + "]"; }

std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    if (__builtin_mul_overflow(strides[i], shape[i], &strides[i - 1]))
      fail_malformed("shape ", shape_text(shape), " has too many elements");
  }
  return strides;
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)), size_(element_count(shape_)) {
  check_size(dtype, shape_, size_);
  if (dtype == DType::String) {
    strings_ = std::make_shared<std::vector<std::string>>(size_);
    return;
  }
  own_ = allocate(size_bytes(), dtype, shape_);
  data_ = own_.get();
}

struct Tensor::Deferred {
  SharedBytes source;
  Shape shape;                // of the source
  std::vector<int64_t> perm;  // of its axes; empty: they stay
  size_t element_bytes;
  mutable std::once_flag once;
  mutable std::shared_ptr<std::byte> made;
  mutable std::atomic<const std::byte*> ready{nullptr};  // made, once it is whole

  Deferred(SharedBytes bytes, Shape extents, std::vector<int64_t> order, size_t width)
      : source(std::move(bytes)), shape(std::move(extents)), perm(std::move(order)), element_bytes(width) {}

  Shape result() const {
    Shape extents = shape;
    for (size_t i = 0; i < perm.size(); ++i) extents[i] = shape[perm[i]];
    return extents;
  }
  // What lies in order somewhere, or null.
  const std::byte* lying() const {
    return ready != nullptr ? ready.load() : perm.empty() ? source.bytes.data() : nullptr;
  }
  void write(std::byte* to) const {
    if (const std::byte* from = lying()) {
      std::memcpy(to, from, source.bytes.size());
    } else {
      Transposition(shape, perm, element_bytes).run(source.bytes.data(), to);
    }
  }
  void write(ByteSink& to) const {
    if (const std::byte* from = lying()) {
      to.write({from, source.bytes.size()});
    } else {
      Transposition(shape, perm, element_bytes).run(source.bytes.data(), to);
    }
  }
};

Tensor Tensor::view(DType dtype, Shape shape, Bytes bytes, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.size_ = element_count(tensor.shape_);
  check_size(dtype, tensor.shape_, tensor.size_);
  if (bytes.size() != tensor.size_bytes()) {
    fail_malformed("tensor ", dtype_name(dtype), shape_text(tensor.shape_), " wants ", tensor.size_bytes(),
                   " bytes, has ", bytes.size());
  }
  if (reinterpret_cast<uintptr_t>(bytes.data()) % dtype_size(dtype) != 0) {
    tensor.deferred_ = std::make_shared<const Deferred>(SharedBytes{bytes, std::move(owner)}, tensor.shape_,
                                                        std::vector<int64_t>(), dtype_size(dtype));
    return bytes.size() < kDeferFrom ? tensor.arranged_copy() : tensor;
  }
  tensor.data_ = bytes.data();
  tensor.owner_ = std::move(owner);
  return tensor;
}

void Tensor::check_type(DType wanted) const {
  const bool byte_view = stored_as_byte(dtype_) && (wanted == DType::UInt8 || wanted == DType::Int8);
  if (wanted != dtype_ && !byte_view) {
    fail_internal("tensor of ", dtype_name(dtype_), " read as ", dtype_name(wanted));
  }
}

std::byte* Tensor::mutable_bytes() {
  if (own_ == nullptr || own_.use_count() > 1) {
    std::shared_ptr<std::byte> copy = allocate(size_bytes(), dtype_, shape_);
    if (deferred_ != nullptr) {
      deferred_->write(copy.get());
    } else if (size_ > 0) {
      std::memcpy(copy.get(), data_, size_bytes());
    }
    own_ = std::move(copy);
    owner_.reset();
    deferred_.reset();
    data_ = own_.get();
  }
  return own_.get();
}

const std::byte* Tensor::arranged() const {
  std::call_once(deferred_->once, [&] {
    deferred_->made = allocate(size_bytes(), dtype_, shape_);
    deferred_->write(deferred_->made.get());
    deferred_->ready = deferred_->made.get();
  });
  return deferred_->made.get();
}

Tensor Tensor::arranged_copy() const {
  Tensor copy = *this;
  if (deferred_ != nullptr) copy.mutable_bytes();
  return copy;
}

Tensor Tensor::transposed(const std::vector<int64_t>& perm) const {
  DNN_CHECK(perm.size() == shape_.size());
  Tensor result;
  result.dtype_ = dtype_;
  result.size_ = size_;
  for (int64_t axis : perm) result.shape_.push_back(dim(static_cast<int>(axis)));
  const bool known = deferred_ != nullptr && (deferred_->perm.empty() || deferred_->result() == shape_);
  std::vector<int64_t> order = perm;
  for (size_t i = 0; known && !deferred_->perm.empty() && i < perm.size(); ++i) order[i] = deferred_->perm[perm[i]];
  const Shape shape = known && !deferred_->perm.empty() ? deferred_->shape : shape_;
  const SharedBytes source = known ? deferred_->source : SharedBytes{bytes(), std::make_shared<const Tensor>(*this)};
  if (Transposition(shape, order, dtype_size(dtype_)).identity())
    return view(dtype_, result.shape_, source.bytes, source.owner);
  result.deferred_ = std::make_shared<const Deferred>(source, shape, std::move(order), dtype_size(dtype_));
  return size_bytes() < kDeferFrom ? result.arranged_copy() : result;
}

void Tensor::append_to(Content& content) const {
  if (deferred_ == nullptr) {
    content.append(SharedBytes{bytes(), std::make_shared<const Tensor>(*this)});
  } else {
    content.append(size_bytes(), [deferred = deferred_](ByteSink& to) { deferred->write(to); });
  }
}

const std::vector<std::string>& Tensor::strings() const {
  check_type(DType::String);
  return *strings_;
}

std::vector<std::string>& Tensor::mutable_strings() {
  check_type(DType::String);
  if (strings_.use_count() > 1) strings_ = std::make_shared<std::vector<std::string>>(*strings_);
  return *strings_;
}

Tensor Tensor::reshaped(Shape shape) const {
  if (element_count(shape) != size_) {
    fail_internal("reshape of ", shape_text(shape_), " to ", shape_text(shape), " changes the element count");
  }
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

bool Tensor::identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  if (dtype_ == DType::String) return *strings_ == *other.strings_;
  return size_bytes() == 0 || std::memcmp(bytes().data(), other.bytes().data(), size_bytes()) == 0;
}

}  // namespace dnn
