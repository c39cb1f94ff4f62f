// Signals that end a tool; see signals.h. The handlers make system calls alone.
#include "cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "base/leftovers.h"
#include "base/read_limit.h"
#include "cli/console.h"

namespace dnn::cli {
namespace {

void raise_by_default(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
}

void end_by(int signal) {
  remove_leftovers();
  raise_by_default(signal);
}

volatile sig_atomic_t noted_interrupt = 0;

void put_literal(const char* text) {
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text));
}

void on_processor_time(int signal, siginfo_t* info, void*) {
  double seconds = 0;
  const char* const name = slow_reading(&seconds);
  if (info->si_code != SI_TIMER || name == nullptr) return raise_by_default(signal);
  char number[24];
  size_t at = sizeof number - 1;
  number[at] = '\0';
  for (auto whole = static_cast<uint64_t>(seconds); at > 0 && (whole > 0 || number[at] == '\0'); whole /= 10)
    number[--at] = static_cast<char>('0' + whole % 10);
  put_literal(console().tool.c_str());
  put_literal(": error: ");
  put_literal(name);
  put_literal(": to read it takes more than ");
  put_literal(number + at);
  put_literal(" s of processor time; --max-memory BYTES,SECONDS allows more\n");
  remove_leftovers();
  ::_exit(static_cast<int>(ErrorKind::Unsupported));
}

void on_bus_error(int signal, siginfo_t* info, void*) {
  const MappingAt at = mapping_at(info->si_addr);
  if (at.name == nullptr) return raise_by_default(signal);
  put_literal(console().tool.c_str());
  put_literal(": error: ");
  put_literal(at.name);
  put_literal(at.shrank ? ": shrank while it was read\n" : ": cannot be read any more\n");
  remove_leftovers();
  ::_exit(static_cast<int>(at.shrank ? ErrorKind::Malformed : ErrorKind::Environment));
}

}  // namespace

void end_cleanly_by_signals() {
  struct sigaction action = {};
  action.sa_handler = end_by;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&action.sa_mask, signal);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

void note_first_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    noted_interrupt = 1;
    end_cleanly_by_signals();
  };
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

bool interrupted() { return noted_interrupt != 0; }

void report_slow_reading() {
  struct sigaction action = {};
  action.sa_sigaction = on_processor_time;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGXCPU, &action, nullptr);
}

void report_bus_errors() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace dnn::cli
