// The box; see box.h. By the system calls themselves: no library of Debian 12 knows Landlock.
#include "base/box.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dnn {
namespace {

std::atomic<Sandbox>& mode() {
  static std::atomic<Sandbox> the_mode{Sandbox::Off};
  return the_mode;
}

// Threads that a closed one starts are closed, too, and do not know it: they are closed once more then.
thread_local bool is_closed = false;

// linux/landlock.h of version 7; Debian 12's header ends at 2.
struct Ruleset {
  uint64_t files = 0, network = 0, scopes = 0;
};

uint64_t rights_of(long version) {
  const int bits = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
  return (uint64_t{1} << bits) - 1;
}

constexpr uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

int close_files(const BoxRules& rules) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) return errno;
  Ruleset set;
  set.files = rights_of(version) & ~(rules.reads_all ? kRead : 0);
  if (version >= 4) set.network = 3;  // to bind and to connect TCP
  if (version >= 6) set.scopes = 3;   // abstract sockets and signals of others
  const size_t size = version >= 6 ? sizeof set : version >= 4 ? offsetof(Ruleset, scopes) : offsetof(Ruleset, network);
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &set, size, 0));
  if (ruleset < 0) return errno;
  int failed = 0;
  for (const std::string& path : rules.reads_all ? std::vector<std::string>() : rules.readable) {
    const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) continue;  // then it is not read either
    struct stat status {};
    const bool folder = ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = folder ? kRead : LANDLOCK_ACCESS_FS_READ_FILE;
    beneath.parent_fd = fd;
    if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) failed = errno;
    ::close(fd);
  }
  if (failed == 0 && ::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) failed = errno;
  ::close(ruleset);
  return failed;
}

// Calls that no reader needs. Landlock knows neither sockets but TCP's nor modes, owners and times.
constexpr long kRefused[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_execve,
    SYS_execveat,
    SYS_kill,
    SYS_tkill,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_init_module,
    SYS_finit_module,
    SYS_kexec_load,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_io_uring_setup,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_utimensat,
    SYS_truncate,
    SYS_mknodat,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_open_by_handle_at,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_process_madvise,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_fanotify_init,
    // Calls by which root changes more than files.
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_delete_module,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_acct,
    SYS_syslog,
    SYS_quotactl,
    SYS_vhangup,
#ifdef __x86_64__
    SYS_futimesat,
    SYS_ioperm,
    SYS_iopl,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_fork,
    SYS_vfork,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_mknod,
    SYS_mkdir,
    SYS_unlink,
    SYS_rmdir,
    SYS_rename,
    SYS_link,
    SYS_symlink,
    SYS_creat,
    SYS_renameat,
#endif
};

#ifdef __x86_64__
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

// A program of the kernel's filter of system calls. Calls fail with EPERM, so that a library that can do without goes on.
struct CallFilter {
  static constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM, kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
  static constexpr uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kEqual = BPF_JMP | BPF_JEQ | BPF_K,
                            kAbove = BPF_JMP | BPF_JGE | BPF_K, kHas = BPF_JMP | BPF_JSET | BPF_K,
                            kReturn = BPF_RET | BPF_K;
  static constexpr uint32_t kNumber = offsetof(seccomp_data, nr), kFirst = offsetof(seccomp_data, args),
                            kSecond = kFirst + sizeof(uint64_t), kThird = kSecond + sizeof(uint64_t);
  std::vector<sock_filter> code;

  // One instruction, and how many are skipped behind it where it holds and where not.
  void line(uint16_t what, uint32_t k, uint8_t yes = 0, uint8_t no = 0) { code.push_back({what, yes, no, k}); }
  // This call gives `result`.
  void answer(long number, uint32_t result) {
    line(kEqual, static_cast<uint32_t>(number), 0, 1);
    line(kReturn, result);
  }
  // This call is allowed where its argument at `offset` is `value`.
  void allow_if(long number, uint32_t offset, uint32_t value) {
    line(kEqual, static_cast<uint32_t>(number), 0, 4);
    line(kLoad, offset);
    line(kEqual, value, 1, 0);
    line(kReturn, kRefuse);
    line(kReturn, SECCOMP_RET_ALLOW);
  }
  // Files are opened to be read; `flags`: the offset of that argument.
  void open_to_read(long number, uint32_t flags) {
    line(kEqual, static_cast<uint32_t>(number), 0, 4);
    line(kLoad, flags);
    line(kHas, O_ACCMODE | O_CREAT | O_TRUNC, 0, 1);
    line(kReturn, kRefuse);
    line(kReturn, SECCOMP_RET_ALLOW);
  }
  // Calls of another architecture are refused; the rest of the program sees the call's number.
  void begin() {
    line(kLoad, offsetof(seccomp_data, arch));
    line(kEqual, kArchitecture, 1, 0);
    line(kReturn, kRefuse);
    line(kLoad, kNumber);
    line(kAbove, 0x40000000, 0, 1);  // x32's numbers
    line(kReturn, kRefuse);
  }
  // Threads may be made, processes not. glibc goes back to clone where clone3 is not known, whose flags cannot be looked at.
  void threads_alone() {
    answer(SYS_clone3, kUnknown);
    line(kEqual, SYS_clone, 0, 4);
    line(kLoad, kFirst);
    line(kHas, CLONE_THREAD, 1, 0);
    line(kReturn, kRefuse);
    line(kReturn, SECCOMP_RET_ALLOW);
  }
  // No keys are put into a terminal, whose shell would run them.
  void no_keys() {
    line(kEqual, SYS_ioctl, 0, 5);
    line(kLoad, kSecond);
    line(kEqual, TIOCSTI, 1, 0);
    line(kEqual, TIOCLINUX, 0, 1);
    line(kReturn, kRefuse);
    line(kReturn, SECCOMP_RET_ALLOW);
  }
};

int close_calls() {
  if (kArchitecture == 0) return ENOSYS;
  CallFilter filter;
  filter.begin();
  for (const long number : kRefused) filter.answer(number, CallFilter::kRefuse);
  filter.threads_alone();
  filter.open_to_read(SYS_openat, CallFilter::kThird);
#ifdef __x86_64__
  filter.open_to_read(SYS_open, CallFilter::kSecond);
#endif
  filter.answer(SYS_openat2, CallFilter::kUnknown);
  filter.no_keys();
  // Signals and limits of this process alone: abort() sends one, and a library may ask for its limits.
  filter.allow_if(SYS_tgkill, CallFilter::kFirst, static_cast<uint32_t>(::getpid()));
  filter.allow_if(SYS_prlimit64, CallFilter::kFirst, 0);
  filter.line(CallFilter::kReturn, SECCOMP_RET_ALLOW);
  const sock_fprog program{static_cast<unsigned short>(filter.code.size()), filter.code.data()};
  // Without the processor's mitigations for code of others, which is not run here: on older kernels they would slow the thread.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 ? 0 : errno;
}

BoxSupport close_all(const BoxRules& rules) {
  BoxSupport support;
  const auto add = [&](const char* what, int failed) {
    if (failed == 0) {
      support.kept.emplace_back(what);
    } else {
      support.not_kept.push_back(cat(what, " (", std::strerror(failed), ")"));
    }
  };
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    add("files and calls", errno);
    return support;
  }
  add("files", close_files(rules));
  add("calls", close_calls());
  return support;
}

void in_thread(const std::function<void()>& work) {
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void set_sandbox(Sandbox wanted) { mode() = wanted; }

void close_thread(const BoxRules& rules) {
  if (mode() == Sandbox::Off) return;
  is_closed = true;
  const BoxSupport support = close_all(rules);
  if (mode() == Sandbox::On && !support.not_kept.empty())
    fail_environment("--sandbox on: this kernel does not keep ", join(support.not_kept),
                     "; --sandbox auto goes without");
}

void in_box(const BoxRules& rules, const std::function<void()>& work) {
  if (mode() == Sandbox::Off) return work();
  in_thread([&] {
    close_thread(rules);
    work();
  });
}

namespace {

// A closed thread that does one piece of work after another for the thread that made it.
class KeptBox {
 public:
  KeptBox() : thread_([this] { serve(); }) {}
  ~KeptBox() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  KeptBox(const KeptBox&) = delete;
  KeptBox& operator=(const KeptBox&) = delete;

  pid_t process() const { return process_; }
  void run(const std::function<void()>& work) {
    std::exception_ptr failure;
    {
      std::unique_lock lock(mutex_);
      work_ = &work;
      changed_.notify_all();
      changed_.wait(lock, [this] { return work_ == nullptr; });
      failure = std::exchange(failure_, nullptr);
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void serve() {
    std::exception_ptr not_closed;
    try {
      BoxRules rules;
      rules.reads_all = true;
      close_thread(rules);
    } catch (...) {
      not_closed = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || work_ != nullptr; });
      if (ends_) return;
      const std::function<void()>& work = *work_;
      lock.unlock();
      std::exception_ptr failure = not_closed;
      try {
        if (!failure) work();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

// In a child of a process that forked there is no such thread, and what waits for it is left alone.
struct EndOwn {
  void operator()(KeptBox* box) const {
    if (box->process() == ::getpid()) delete box;
  }
};

}  // namespace

void in_kept_box(const std::function<void()>& work) {
  if (mode() == Sandbox::Off || is_closed) return work();
  static thread_local std::unique_ptr<KeptBox, EndOwn> kept;
  if (!kept || kept->process() != ::getpid()) kept.reset(new KeptBox);
  kept->run(work);
}

BoxSupport box_support() {
  BoxSupport support;
  in_thread([&] { support = close_all({}); });
  return support;
}

}  // namespace dnn
