// Certificates by frameworks: the source's file and the written one, each run by the framework that its format belongs to.
#pragma once
#include <functional>
#include <string>

#include "convert/certificate.h"
#include "infer/setup.h"

namespace dnn {

struct FrameworkJudge {
  std::string source;         // the model's own file; "" where the graph is not what the file says (cut, renamed, ...)
  std::string source_format;  // its row of formats.def
  std::string target_format;
  bool trust_model = false;  // the source's framework may load a file that can hold code
  int threads = 0;
  std::function<std::string(const std::string& variable)> variable;  // of the environment
  std::function<void(OpenOptions* options)> folders;                 // cache and key of the user
  std::function<void(const std::string& message)> warn;              // why a side is as dnn-tools reads it

  // Runs `written`, a file of the target's format, on the yardstick's probes in the target's framework, and the source in its
  // own where that is allowed and here; where one is not, its side is as dnn-tools reads it. Throws Environment where neither
  // framework is here, Negative where the target's refuses the file.
  Certificate judge(const Yardstick& yardstick, const std::string& written) const;
};

}  // namespace dnn
