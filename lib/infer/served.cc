// Opening what a client sent; see served.h.
#include "infer/served.h"

namespace dnn {

std::shared_ptr<const Package> open_for_client(const std::string& path, const DeviceSpec& device,
                                               const std::string& isa, bool trusted, const OpenOptions& folders) {
  NetworkOptions network;
  network.device = device;
  network.isa = isa;
  OpenOptions open = open_options(network);
  open.cache_folder = folders.cache_folder;
  open.key_path = folders.key_path;
  open.compile.build = folders.compile.build;
  open.note = folders.note;
  open.warn = folders.warn;
  open.trust = trusted;
  open.look_beside = false;
  return open_package(path, open);
}

}  // namespace dnn
