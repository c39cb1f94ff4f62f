// A client of Kenning (antmicro/kenning), served by its own protocol: takes a model file or a package, and runs it. docs/reference/kenning.md.
#pragma once
#include <string>

#include "remote/kenning.h"
#include "serve/serve.h"

namespace dnn::serve {

// `wire`: nullopt tells it by who speaks first, as clients of 2021 do and later ones do not; on a serial line it is that of later ones.
// `trusted` as in serve_client(): a package's code is run, else compiled anew. Returns when the client has left. Throws what ended the
// connection.
void serve_kenning(Transport& client, const std::string& name, std::optional<remote::kenning::Wire> wire, bool trusted,
                   const Options& options);

}  // namespace dnn::serve
