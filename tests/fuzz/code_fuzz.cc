// Objects of code: mapped, relocated and asked for a function, but not run.
#include "devices/code.h"
#include "fuzz/fuzz.h"

DNN_FUZZ(code) {
  const auto bytes = dnn::fuzz::as_input(data, size);
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::LoadedCode code({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    code.function("double_all");
  });
}
