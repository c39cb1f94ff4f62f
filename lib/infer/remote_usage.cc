// Usage of another machine; see remote_usage.h.
#include "infer/remote_usage.h"

#include <unistd.h>

#include "remote/handshake.h"
#include "usage/sampler.h"

namespace dnn {
namespace {

using stream::Json;

constexpr auto kFetchEvery = std::chrono::milliseconds(500);

double measure_of(const Json& map, const char* key) {
  const auto it = map.find(key);
  if (it == map.end() || !it->is_number()) fail_malformed("usage over there lacks '", key, "'");
  return it->get<double>();
}

}  // namespace

RemoteUsage::RemoteUsage(std::shared_ptr<RemoteHost> host, int interval_ms) : host_(std::move(host)) {
  host_->stay();
  const Json meters = host_->ask({{"op", "usage"}, {"every_ms", interval_ms}});
  energy_ = remote::text_of(meters, "energy");
  gpus_ = remote::text_of(meters, "gpus");
}

void RemoteUsage::start() {
  host_->ask({{"op", "sample"}, {"on", true}});
  fetched_ = Clock::now();
  runs_ = true;
}

void RemoteUsage::stop() {
  if (!runs_) return;
  const Json cost = host_->ask({{"op", "sample"}, {"on", false}});
  cost_ = {remote::number_of(cost, "count", 0, INT64_MAX), measure_of(cost, "interval_ms"), measure_of(cost, "share")};
  runs_ = false;
  ended_ = true;
}

std::vector<stream::Usage> RemoteUsage::take() {
  std::vector<stream::Usage> usages;
  if (!ended_ && (!runs_ || Clock::now() - fetched_ < kFetchEvery)) return usages;
  fetched_ = Clock::now();
  for (bool more = true; more;) {
    const Json answer = host_->ask({{"op", "used"}});
    const auto records = answer.find("records");
    if (records == answer.end() || !records->is_array()) fail_malformed(host_->name(), ": an answer without records");
    for (const Json& line : *records) {
      const auto record = line.is_string() ? stream::record_from_json(line.get<std::string>()) : std::nullopt;
      const auto* usage = record ? std::get_if<stream::Usage>(&*record) : nullptr;
      if (usage == nullptr) fail_malformed(host_->name(), ": usage that is no record of it");
      usages.push_back(*usage);
    }
    more = remote::flag_of(answer, "more") && !records->empty();
  }
  return usages;
}

std::unique_ptr<usage::Source> usage_of(const Session& session, std::shared_ptr<RemoteHost> host, int interval_ms) {
  if (host != nullptr) return std::make_unique<RemoteUsage>(std::move(host), interval_ms);
  return std::make_unique<usage::Sampler>(usage::Roots(), ::getpid(), session.process(), interval_ms);
}

}  // namespace dnn
