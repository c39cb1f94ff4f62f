// Fuzz target: tables and tensor bundles. The first byte chooses: the rest as a table; or as records (lengths of key and value, a byte
// each, then both), which become a table with sound checksums, whose entries are read from the input as their shard.
#include "formats/wire/bundle.h"

#include "formats/wire/table.h"
#include "fuzz/fuzz.h"

DNN_FUZZ(bundle) {
  if (size == 0) return 0;
  const dnn::Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  return dnn::fuzz::refuse_or_accept([&] {
    std::map<std::string, std::string> entries;
    if (data[0] % 2 == 0) {
      entries = dnn::read_table(bytes);
      if (dnn::read_table(dnn::as_bytes(dnn::write_table(entries))) != entries) __builtin_trap();
    } else {
      dnn::ByteReader reader(bytes, "records");
      while (reader.remaining() > 2) {
        const size_t key = reader.u8(), value = reader.u8();
        const std::string name(dnn::as_text(reader.take(key)));
        entries[name] = dnn::as_text(reader.take(value));
      }
    }
    const std::string index = dnn::write_table(entries);
    dnn::TensorBundle bundle(dnn::as_bytes(index), [&](int, int) { return dnn::SharedBytes{bytes, nullptr}; });
    for (const auto& entry : entries) {
      dnn::fuzz::refuse_or_accept([&] {
        if (bundle.has(entry.first)) bundle.read(entry.first);
      });
    }
  });
}
