// Graphs to and from their FlatBuffers form; tensors' bytes go through a blob store.
#pragma once
#include <schemas/package_generated.h>

#include <functional>

#include "graph/graph.h"

namespace dnn {

// FlatBuffers' verifier looks at the alignment of a vector's length alone. Throws Malformed where elements are off
// theirs; the builder does not align an empty vector.
template <class Vector>
void check_alignment(const Vector* v, size_t bytes) {
  if (v != nullptr && v->size() > 0 && reinterpret_cast<uintptr_t>(v->Data()) % bytes != 0)
    fail_malformed("a list of ", v->size(), " elements of ", bytes, " bytes is not aligned");
}

inline std::string text_of(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }

template <class Vector>
auto numbers_of(const Vector* v) {
  using T = typename Vector::return_type;
  check_alignment(v, sizeof(T));
  return v == nullptr ? std::vector<T>() : std::vector<T>(v->begin(), v->end());
}

// Places bytes in the file's blob area; equal memory is stored once.
using StoreBlob = std::function<flatbuffers::Offset<fb::Blob>(Bytes bytes)>;
// The bytes of a blob, bounds-checked.
using LoadBlob = std::function<Bytes(const fb::Blob* blob)>;

flatbuffers::Offset<fb::Tensor> pack_tensor(flatbuffers::FlatBufferBuilder& builder, const Tensor& tensor,
                                            const StoreBlob& store);
flatbuffers::Offset<fb::Graph> pack_graph(flatbuffers::FlatBufferBuilder& builder, const Graph& graph,
                                          const StoreBlob& store);

// Views into the blobs, which `owner` keeps alive. Throw Malformed.
Tensor unpack_tensor(const fb::Tensor* tensor, const LoadBlob& load, const std::shared_ptr<const void>& owner);
Graph unpack_graph(const fb::Graph* graph, const LoadBlob& load, const std::shared_ptr<const void>& owner);

}  // namespace dnn
