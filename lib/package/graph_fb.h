// Graphs to and from their FlatBuffers form; tensors' bytes go through a blob store.
#pragma once
#include <functional>

#include "graph/graph.h"
#include "package_generated.h"

namespace dnn {

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
