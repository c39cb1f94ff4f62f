// Configurations of hostile bytes: only Malformed and Unsupported may escape, and what is read can be counted.
#include "branch/network.h"
#include "fuzz/fuzz.h"

DNN_FUZZ(config) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  return dnn::fuzz::refuse_or_accept(
      [&] { dnn::branch::count_network(dnn::branch::parse_config(text, "fuzz", [](const std::string&) {})); });
}
