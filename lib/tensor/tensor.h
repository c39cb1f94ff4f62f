// Tensor: a dense row-major array of one DType; copies share bytes until one of them writes. Bytes of a file that lie elsewhere than
// their type wants, or in another order of axes, are brought into theirs when they are first read, if they ever are.
#pragma once
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/content.h"
#include "tensor/dtype.h"

namespace dnn {

using Shape = std::vector<int64_t>;

// Elements of a shape; throws Malformed on a negative extent or when the product overflows 2^62.
int64_t element_count(const Shape& shape);
std::string shape_text(const Shape& shape);  // "[1,3,224,224]"
// Row-major strides in elements.
std::vector<int64_t> row_major_strides(const Shape& shape);

class Tensor {
 public:
  Tensor() = default;                // no tensor: dtype() == Undefined
  Tensor(DType dtype, Shape shape);  // zero-filled (empty strings), 64-byte aligned
  // Wraps bytes that `owner` keeps alive (a mapped file), aligned or not; `bytes` must hold exactly the elements.
  static Tensor view(DType dtype, Shape shape, Bytes bytes, std::shared_ptr<const void> owner);
  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& values) {
    Tensor tensor(kDTypeOf<T>, std::move(shape));
    if (static_cast<int64_t>(values.size()) != tensor.size())
      fail_internal("Tensor::of: value count differs from shape");
    T* out = tensor.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];  // element-wise: vector<bool> has no data()
    return tensor;
  }
  template <class T>
  static Tensor scalar(T value) {
    return of<T>({}, {value});
  }

  bool defined() const { return dtype_ != DType::Undefined; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t dim(int axis) const { return shape_[axis]; }
  int64_t size() const { return size_; }  // elements
  size_t size_bytes() const { return static_cast<size_t>(size_) * dtype_size(dtype_); }

  Bytes bytes() const { return {deferred_ == nullptr ? data_ : arranged(), size_bytes()}; }
  std::byte* mutable_bytes();
  // Typed access; T must match dtype() (checked), except that 8-bit-stored types read as uint8_t/int8_t.
  template <class T>
  const T* data() const {
    check_type(kDTypeOf<T>);
    return reinterpret_cast<const T*>(bytes().data());
  }
  template <class T>
  T* mutable_data() {
    check_type(kDTypeOf<T>);
    return reinterpret_cast<T*>(mutable_bytes());
  }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(size_)};
  }
  const std::vector<std::string>& strings() const;
  std::vector<std::string>& mutable_strings();

  // Axis i of the result is axis perm[i].
  Tensor transposed(const std::vector<int64_t>& perm) const;
  // The same with its bytes in their order now, held by it alone where they were not.
  Tensor arranged_copy() const;
  // Puts the bytes at the end of a file, which keeps the tensor until it is written.
  void append_to(Content& content) const;
  // The same bytes under another shape of equal size.
  Tensor reshaped(Shape shape) const;
  // Same dtype, shape and bytes (NaNs equal by bits).
  bool identical(const Tensor& other) const;

 private:
  struct Deferred;

  void check_type(DType wanted) const;
  const std::byte* arranged() const;

  DType dtype_ = DType::Undefined;
  Shape shape_;
  int64_t size_ = 0;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;         // keeps data_ alive
  std::shared_ptr<std::byte> own_;            // the writable allocation, when the bytes are ours
  std::shared_ptr<const Deferred> deferred_;  // where the bytes come from; data_ is null then
  std::shared_ptr<std::vector<std::string>> strings_;
};

inline Content content_of(const Tensor& tensor) {
  Content content;
  tensor.append_to(content);
  return content;
}

// Any numeric tensor as doubles / as int64 (floats truncate), in row-major order. Throws Unsupported for string/complex.
std::vector<double> to_doubles(const Tensor& tensor);
std::vector<int64_t> to_int64s(const Tensor& tensor);
// Element conversion with ONNX Cast's rules (float to int truncates toward zero; out of range wraps as C++ on x86 does;
// to bool: value != 0; strings parse and print). `saturate` is Cast's attribute for float8.
Tensor convert(const Tensor& tensor, DType to, bool saturate = true);

}  // namespace dnn
