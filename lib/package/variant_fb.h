// Variants of a package to and from their FlatBuffers form; code goes through a blob store.
#pragma once
#include <functional>

#include "package/graph_fb.h"
#include "package/package.h"

namespace dnn {

// A blob's bytes: as they are; and those whose checksum or tag holds, else Malformed.
struct BlobSource {
  LoadBlob find, check;
  std::function<bool(const fb::Blob*, Bytes)> are;  // whether bytes are a blob's, by its checksum or tag
};

// `graph`: the number of its graph in the file.
flatbuffers::Offset<fb::Variant> pack_variant(flatbuffers::FlatBufferBuilder& builder, const Variant& variant,
                                              uint32_t graph, const StoreBlob& store);

// Checked for all that devices rely on: indices in range, offsets inside their arena. Throws Malformed. `constants`: how many the file
// has; `to_run`: the text that machine code was made of, which no run needs, is left out.
Variant unpack_variant(const fb::Variant* variant, const std::vector<std::shared_ptr<const Graph>>& graphs,
                       size_t constants, bool to_run, const BlobSource& blobs);

}  // namespace dnn
