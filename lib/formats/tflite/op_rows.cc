// The table of operators; see ops.def.
#include <map>

#include "formats/tflite/imports.h"

namespace dnn::tflite {

namespace {
template <class T>
bool verified(const void* table, flatbuffers::Verifier& verifier) {
  return static_cast<const T*>(table)->Verify(verifier);
}
}  // namespace

const std::vector<OpRow>& op_rows() {
  static const std::vector<OpRow> rows = {
#define DNN_TFLITE_OP(name, code, options, table, function) \
  {#name, code, options, &table::MiniReflectTypeTable, verified<table>, function},
#include "formats/tflite/ops.def"
  };
  return rows;
}

std::string builtin_name(int code) {
  static const std::map<int, const char*> names = {
#define DNN_TFLITE_NAME(number, name) {number, #name},
#include "formats/tflite/names.def"
  };
  const auto found = names.find(code);
  return found == names.end() ? cat("operator ", code) : found->second;
}

}  // namespace dnn::tflite
