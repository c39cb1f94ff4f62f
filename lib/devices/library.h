// Frameworks as devices: lib:onnxruntime and its like run a model's file in the real framework, in a process of its own.
//
// The process is an adapter (scripts/adapters), or a user's program (docs/howto/programs.md), which speaks streams (stream/dialogue.h). It is given a header: the model's file, the
// device's name, the level, the threads, and to an adapter in `host` a folder, `scratch`, that it may write to; and answers with one, which says what runs it. Then for each run a tensor record of role
// input per input, and the sample that they belong to; and gets a prediction: outputs in full, and the latency, measured around the
// framework's own call. Inputs and outputs go by name where both sides know the same names, otherwise by place. The end of
// its input ends it; exit code 77 says that the framework is not installed, any other that it refuses; its last line says why.
#pragma once
#include <string>
#include <vector>

#include "devices/device.h"

namespace dnn {

struct Framework {
  const char* name;
  const char* adapter;   // its file
  const char* variable;  // DNN_PYTHON_<variable> names the interpreter
  const char* module;
  const char* formats;      // that it loads, space-separated; another is converted to the first
  const char* declarative;  // those of them that cannot make it run code, see frameworks.def
  bool levels;              // knows -O0 to -O4
  const char* option;       // "KEY" of lib:NAME:KEY=VALUE, or ""
};

const std::vector<Framework>& frameworks();
// What a framework may do with the user's own file of a format: nothing, for it loads none such; load it, where the file is
// trusted; load any, for the format is declarative to it.
enum class OwnFile : uint8_t { NotLoaded, IfTrusted, Always };
OwnFile own_file(const Framework& framework, const std::string& format);
// DeviceSpec::framework() of a text: the row of "lib:NAME" or "lib:NAME:KEY=VALUE", null for another kind of device. A user's
// program, "exec:COMMAND", and a server of Kenning are ones that load any format and have no levels. Throws Usage.
const Framework* find_framework(const std::string& device);

// The words that run a file of scripts/adapters by the Python that DNN_PYTHON_<python> names, or the one that was set up for it.
// `user` is who wants it, for the message. Throws Environment where there is no such file.
std::vector<std::string> adapter_command(const std::string& user, const std::string& adapter, const std::string& python,
                                         const DeviceOptions& options);

}  // namespace dnn
