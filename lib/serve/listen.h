// Listening for clients, each of which is served by a process of its own.
#pragma once
#include <functional>
#include <string>

#include "remote/address.h"
#include "serve/serve.h"

namespace dnn::serve {

// Listens until SIGTERM, SIGINT or SIGHUP, then ends the processes of clients. Returns in the process of each client, too, when that
// has left: the caller ends then. A client of TCP is trusted where it knows the key; one of a Unix socket, which only this user may
// connect to, as that user. `ready` is told the address, whose port 0 has become one that was free. Throws Usage for an address other
// than of this machine's loopback without a key, Environment.
void listen(const remote::Address& address, const Options& options,
            const std::function<void(const std::string&)>& ready);

// The one client that has started this process, a trusted one, on standard input and output. What else is written to standard output
// goes to standard error meanwhile and later, for it is no answer to the client.
void serve_standard(const Options& options);

}  // namespace dnn::serve
