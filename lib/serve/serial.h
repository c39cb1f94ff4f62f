// Serving a serial line: one client after the other, each by a process of its own.
#pragma once
#include <functional>
#include <string>

#include "remote/address.h"
#include "serve/serve.h"

namespace dnn::serve {

// Serves until SIGTERM, SIGINT or SIGHUP. Returns in the process of each client, too, when that has left: the caller ends then. Whoever
// has the cable is trusted, unless there is a key. `ready` is told the address. Throws Environment where the line is hung up, and what
// opening it throws.
void serve_serial(const remote::Address& address, const Options& options,
                  const std::function<void(const std::string&)>& ready);

}  // namespace dnn::serve
