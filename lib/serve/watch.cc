// Watching requests; see watch.h.
#include "serve/watch.h"

#include <cstdlib>
#include <system_error>

#include "remote/handshake.h"

namespace dnn::serve {
namespace {

// Often enough for who waits for a processor, and nothing beside a run.
constexpr auto kStep = std::chrono::milliseconds(100);

}  // namespace

Watch::Watch(remote::Frames& frames, WatchRules rules) : frames_(frames), rules_(std::move(rules)) {
  if (rules_.alive_s <= 0 && rules_.most_s <= 0 && !rules_.gone) return;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    // A process without memory for a thread serves without a watch, unless it keeps a limit.
    if (rules_.most_s > 0) fail_environment("no thread for the limit of a request (--max-run)");
  }
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watch::begin() {
  const std::lock_guard lock(mutex_);
  began_ = said_ = Clock::now();
}

void Watch::end() {
  const std::lock_guard lock(mutex_);
  began_.reset();
}

void Watch::work() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kStep, [this] { return stop_; })) {
    if (began_) look();
  }
}

// With the lock held. Where a process ends here its work is in the middle of something, so that nothing is cleaned up.
void Watch::look() {
  const auto since = [](Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); };
  if (rules_.gone && rules_.gone()) std::_Exit(0);
  try {
    if (rules_.most_s > 0 && since(*began_) > rules_.most_s) {
      frames_.send(remote::failure({ErrorKind::Environment, cat("a request took more than ", rules_.most_s,
                                                                " s, the server's limit (--max-run)")}));
      std::_Exit(0);
    }
    if (rules_.alive_s > 0 && since(said_) > rules_.alive_s) {
      said_ = Clock::now();
      frames_.send({{"alive", true}});
    }
  } catch (const Error&) {  // it takes nothing any more: what works on the request finds that out
  }
}

}  // namespace dnn::serve
