// Types, tensors and attributes of the text form of graphs (text.h), parsed.
#pragma once
#include "graph/graph.h"
#include "graph/text_reader.h"

namespace dnn {

// float32[1,batch,?], ?[...], float32?, ??
Type parse_type(TextReader& reader);

// One for a whole file: what its constants expand to has a limit.
class ValueParser {
 public:
  // `reader` outlives this.
  explicit ValueParser(TextReader& reader) : reader_(reader) {}

  // The value behind the type of a constant.
  Tensor tensor(const Type& type);
  // Any but a graph.
  Attribute attribute();

 private:
  Tensor typed_tensor() { return tensor(parse_type(reader_)); }
  Tensor base64(const Type& type, uint64_t n_bytes);
  Tensor random(const Type& type, uint64_t n_bytes);
  Tensor elements(const Type& type, uint64_t n_bytes);
  Attribute list();
  void spend(uint64_t n_bytes);

  TextReader& reader_;
  uint64_t expanded_ = 0;
};

}  // namespace dnn
