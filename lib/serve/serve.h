// One client of a dnn-serve: takes its packages and runs them, until it leaves. docs/reference/serve.md has the protocol. Who serves says
// how packages are opened, so that a program without a compiler serves, too.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/transport.h"
#include "devices/device.h"

namespace dnn::serve {

struct Limits {
  int64_t upload_bytes = int64_t{4} << 30;  // of one package
  int64_t store_bytes = int64_t{8} << 30;   // of all that are kept
  int64_t memory_bytes = 0;                 // of a client's process; 0: no limit
  double run_s = 0;                         // for the work on one request; 0: no limit
  double alive_s = 5;                       // a sign of life so often while one is worked on
  double idle_s = 3600;                     // between two requests
  double frame_s = 60;                      // for a frame, either way
  double greet_s = 10;                      // for a connection's first messages, the first request among them
  int clients = 64;                         // at once
};

// A client's process may write so much into one file: an upload, or what is compiled of it.
int64_t largest_file(const Limits& limits);

struct Options;

// A protocol that clients speak in place of ours.
struct Protocol {
  std::string name;  // "Kenning's protocol"
  std::function<void(Transport& client, const std::string& name, bool trusted, const Options& options)> serve;
};

struct Options {
  // Opens the package in a file that a client sent, for a device and, where that is not "", one of its instruction sets. Code of one that
  // is not trusted is not run.
  std::function<std::shared_ptr<const Package>(const std::string& path, const DeviceSpec& device,
                                               const std::string& isa, bool trusted)>
      open;
  DeviceOptions device;  // environment
  std::string key;       // bytes of the key file; "" for none
  std::string store;     // folder of uploaded packages
  Limits limits;
  std::optional<Protocol> protocol = {};                      // other than ours
  std::function<void(const std::string& message)> note = {};  // what clients do; may be empty
  std::function<void()> proven =
      {};                           // called at a client's first request: it has the key, if there is one; may be empty
  std::function<bool()> gone = {};  // whether the client is; then its process ends within a request, too; may be empty
};

// `trusted`: code that the client sends is run. Otherwise the client is a stranger: its packages are compiled anew from the models that
// they hold, in a store of strangers, with no more threads than there are processors. Returns when the client has left. Throws what
// ended the connection.
void serve_client(Transport& client, const std::string& name, bool trusted, const Options& options);

}  // namespace dnn::serve
