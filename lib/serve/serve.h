// One client of a dnn-serve: takes its packages and runs them, until it leaves. docs/reference/serve.md has the protocol.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/transport.h"
#include "compile/open.h"
#include "devices/device.h"
#include "infer/setup.h"
#include "remote/kenning.h"

namespace dnn::serve {

struct Limits {
  int64_t upload_bytes = int64_t{4} << 30;  // of one package
  int64_t store_bytes = int64_t{8} << 30;   // of all that are kept
  int64_t memory_bytes = 0;                 // of a client's process; 0: no limit
  double idle_s = 3600;                     // between two requests
  double frame_s = 60;                      // for a frame, either way
  double greet_s = 10;                      // for a connection's first messages, the first request among them
  int clients = 64;                         // at once
};

struct Options {
  OpenOptions open;      // folders and sinks; what is compiled anew for an untrusted client goes by them
  DeviceOptions device;  // environment
  std::string key;       // bytes of the key file; "" for none
  std::string store;     // folder of uploaded packages
  Limits limits;
  bool kenning = false;  // clients of Kenning are served, by this wire of its or by what they speak
  std::optional<remote::kenning::Wire> kenning_wire = {};
  std::function<void(const std::string& message)> note = {};  // what clients do; may be empty
  std::function<void()> proven =
      {};  // called at a client's first request: it has the key, if there is one; may be empty
};

// Options that a client's model or package is opened with: the server's folders and sinks. Nothing beside the file is read, as clients
// sent that, too. `trusted`: the code in a package is run, else compiled anew.
OpenOptions open_for_client(const NetworkOptions& network, bool trusted, const Options& options);

// `trusted`: code that the client sends is run. Otherwise the client is a stranger: its packages are compiled anew from the models that
// they hold, in a store of strangers, with no more threads than there are processors. Returns when the client has left. Throws what
// ended the connection.
void serve_client(Transport& client, const std::string& name, bool trusted, const Options& options);

}  // namespace dnn::serve
