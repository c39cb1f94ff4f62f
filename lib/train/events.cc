// Event files; see events.h.
#include "train/events.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <map>

#include "base/crc.h"
#include "base/error.h"
#include "base/io.h"
#include "base/private.h"
#include "base/text.h"

namespace dnn::train {
namespace {

// Fields of protobuf messages (tensorflow/core/util/event.proto, framework/summary.proto).
enum class Wire : uint64_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string key(uint64_t field, Wire wire) { return varint(field << 3 | static_cast<uint64_t>(wire)); }
std::string field(uint64_t number, double value) { return key(number, Wire::Fixed64) + raw(value); }
std::string field(uint64_t number, float value) { return key(number, Wire::Fixed32) + raw(value); }
std::string field(uint64_t number, int64_t value) {
  return key(number, Wire::Varint) + varint(static_cast<uint64_t>(value));
}
std::string field(uint64_t number, const std::string& bytes) {
  return key(number, Wire::Bytes) + varint(bytes.size()) + bytes;
}
std::string field(uint64_t number, const std::vector<double>& values) {
  std::string bytes;
  for (double value : values) bytes += raw(value);
  return field(number, bytes);
}

std::string event(double wall_time, int64_t step, const std::string& rest) {
  return field(1, wall_time) + (step == 0 ? "" : field(2, step)) + rest;
}

std::string summary(const std::string& tag, const std::string& value) {
  return field(5, field(1, field(1, tag) + value));
}

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string new_path(const std::string& folder) {
  static std::atomic<int> files = 0;
  utsname system{};
  ::uname(&system);
  return cat(folder, "/events.out.tfevents.", std::to_string(static_cast<int64_t>(now())), ".", system.nodename, ".",
             ::getpid(), ".", files++);
}

// Bounds of buckets that grow by a tenth, on both sides of 0 (tensorflow/core/lib/histogram).
const std::vector<double>& bucket_limits() {
  static const std::vector<double> limits = [] {
    constexpr double kLeast = 1e-12, kMost = 1e20, kGrowth = 1.1;
    std::vector<double> positive;
    for (double limit = kLeast; limit < kMost; limit *= kGrowth) positive.push_back(limit);
    positive.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    for (size_t i = positive.size(); i-- > 0;) all.push_back(-positive[i]);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

}  // namespace

GrowingFile::GrowingFile(const std::string& path) : path_(path), fd_(open_growing(path, O_WRONLY | O_APPEND)) {}

GrowingFile::~GrowingFile() { ::close(fd_); }

void GrowingFile::write(const std::string& text) { FdSink(fd_, path_).write(as_bytes(text)); }

std::string record_frame(const std::string& message) {
  const std::string length = raw(static_cast<uint64_t>(message.size()));
  const auto checksum = [](const std::string& bytes) { return raw(masked_crc32c(crc32c(as_bytes(bytes)))); };
  return length + checksum(length) + message + checksum(message);
}

std::string version_event(double wall_time) { return event(wall_time, 0, field(3, std::string("brain.Event:2"))); }

std::string start_event(double wall_time, int64_t step) {
  return event(wall_time, step, field(7, field(1, int64_t{1})));
}

std::string scalar_event(double wall_time, int64_t step, const std::string& tag, double value) {
  return event(wall_time, step, summary(tag, field(2, static_cast<float>(value))));
}

std::string histogram_event(double wall_time, int64_t step, const std::string& tag, std::span<const float> values) {
  const std::vector<double>& limits = bucket_limits();
  std::map<size_t, double> counts;
  double low = std::numeric_limits<double>::max(), high = -low, sum = 0, squares = 0, n = 0;
  for (float v : values) {
    if (!std::isfinite(v)) continue;
    const double value = double{v};
    const size_t bucket = std::upper_bound(limits.begin(), limits.end(), value) - limits.begin();
    ++counts[std::min(bucket, limits.size() - 1)];
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    squares += value * value;
    ++n;
  }
  std::vector<double> bounds, numbers;
  for (const auto& [bucket, count] : counts) {
    // An empty bucket below says where this one begins.
    if (bucket > 0 && counts.count(bucket - 1) == 0) {
      bounds.push_back(limits[bucket - 1]);
      numbers.push_back(0);
    }
    bounds.push_back(limits[bucket]);
    numbers.push_back(count);
  }
  if (counts.empty()) low = high = 0;
  return event(wall_time, step,
               summary(tag, field(5, field(1, low) + field(2, high) + field(3, n) + field(4, sum) + field(5, squares) +
                                         field(6, bounds) + field(7, numbers))));
}

EventFile::EventFile(const std::string& folder) : file_(new_path(folder)) {
  file_.write(record_frame(version_event(now())));
}

void EventFile::start_after(int64_t step) { file_.write(record_frame(start_event(now(), step + 1))); }

void EventFile::scalar(const std::string& tag, double value, int64_t step) {
  file_.write(record_frame(scalar_event(now(), step, tag, value)));
}

void EventFile::histogram(const std::string& tag, std::span<const float> values, int64_t step) {
  file_.write(record_frame(histogram_event(now(), step, tag, values)));
}

}  // namespace dnn::train
