// What a framework is given to run, decided here for every tool: our conversion of the model, or the user's own file.
//
// The own file is given where the format is declarative to the framework (devices/frameworks.def), and where the user trusts the
// model (DeviceOptions::trust_model): a model of any other format may hold code that the framework runs. A program,
// exec:COMMAND, is the user's own and always gets the file.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "devices/library.h"

namespace dnn {

struct FrameworkFile {
  std::string path, format;
  std::string converted_from;  // a format's name; "" for the user's own file
  bool trusted = false;        // the user's own file, which was given only because the user trusts it
  std::shared_ptr<const TemporaryFolder> folder = {};  // keeps what was made for the run
};

// Adds what the file is to a run's header; nothing for the user's own, of a format that is data to the framework.
void describe(const FrameworkFile& file, stream::Header* header);

struct FrameworkSession {
  FrameworkFile file;
  std::unique_ptr<Session> session;
};

// `device`, which is a framework, with the model of `path`, which the package was opened from; DeviceOptions' model_* are filled in
// here. `warn` is told where a framework gets a conversion of a file that it could load. A file that it should load but refuses
// (Keras 3 refuses some of Keras 2's) is converted, too, with a warning. A conversion is not certified: running it is the comparison. With `traces` the session's trace() shows what the
// framework makes of a conversion in which every value is an output, in a process of its own. Throws what open_session()
// and convert_model() throw.
FrameworkSession open_in_framework(const DeviceSpec& device, const std::string& path,
                                   const std::shared_ptr<const Package>& package, DeviceOptions options, bool traces,
                                   const std::function<void(const std::string&)>& warn);

}  // namespace dnn
