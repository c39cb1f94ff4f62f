// Opening what a client of a server sent: a package, or a model.
#pragma once
#include <memory>
#include <string>

#include "infer/setup.h"

namespace dnn {

// `folders`: the server's folders and sinks. Nothing beside the file is read, as clients sent that, too. `trusted`: the code in a package
// is run, else compiled anew. Throws as open_package does.
std::shared_ptr<const Package> open_for_client(const std::string& path, const DeviceSpec& device,
                                               const std::string& isa, bool trusted, const OpenOptions& folders);

}  // namespace dnn
