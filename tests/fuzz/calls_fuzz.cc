// Bytes on a serial line before a talk begins: among noise a call is found, and nothing else is taken for one.
#include "fuzz/fuzz.h"
#include "remote/serial.h"

DNN_FUZZ(calls) {
  using namespace dnn;
  MemorySource line(dnn::fuzz::as_input(data, size));
  StringSink answers;
  try {
    remote::await_talk(line, answers);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Environment || !answers.text().empty())
      __builtin_trap();  // the line ended without a call
    return 0;
  }
  const std::string answer = answers.take(), text(reinterpret_cast<const char*>(data), size);
  if (answer.size() != 32 || answer.compare(0, 4, "DNS!") != 0) __builtin_trap();
  if (text.find("DNS?" + answer.substr(4)) == std::string::npos) __builtin_trap();
  return 0;
}
