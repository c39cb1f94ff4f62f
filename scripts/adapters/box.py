"""box: closes an adapter's process before it loads a framework: no network, no new privileges, no files but those that it needs.

What a framework does with a model is as safe as the framework's parsers and kernels; what a trusted model runs is anybody's. In the
box either may compute and answer, and no more: Landlock keeps its files to those that are listed, seccomp keeps it from sockets, from
other processes and from the kernel's rarer doors, and nothing that it starts gains a privilege. Linux has both; where it lacks one,
facts() says what is not kept. DNN_ADAPTER_BOX=off leaves a process open, for a framework's plugin that needs more.
"""
import ctypes
import glob
import os
import platform
import resource
import struct
import sys
import tempfile

# Landlock: what a rule may allow (linux/landlock.h), in the order of its versions.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15  # the rights that a rule for a file may have; and truncate, ioctl
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446

# System calls that nothing here needs, by machine, then the numbers of seccomp and ioctl; the numbers are the kernel's own.
NEWER = {"pidfd_send_signal": 424, "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
         "fspick": 433, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442}  # the same numbers on all machines
CALLS = {
    "x86_64": (0xC000003E, {"socket": 41, "connect": 42, "bind": 49, "listen": 50, "ptrace": 101, "mount": 165, "umount2": 166, "pivot_root": 155,
                            "chroot": 161, "init_module": 175, "finit_module": 313, "kexec_load": 246, "keyctl": 250, "add_key": 248,
                            "request_key": 249, "unshare": 272, "perf_event_open": 298, "setns": 308, "process_vm_readv": 310,
                            "process_vm_writev": 311, "bpf": 321, "userfaultfd": 323, "reboot": 169, "swapon": 167, "swapoff": 168,
                            "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "delete_module": 176, "quotactl": 179,
                            "kexec_file_load": 320, "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159, "acct": 163,
                            "syslog": 103, "fanotify_init": 300, "open_by_handle_at": 304, **NEWER}, 317, 16),
    "aarch64": (0xC00000B7, {"socket": 198, "connect": 203, "bind": 200, "listen": 201, "ptrace": 117, "mount": 40, "umount2": 39,
                             "pivot_root": 41, "chroot": 51, "init_module": 105, "finit_module": 273, "kexec_load": 104, "keyctl": 219,
                             "add_key": 217, "request_key": 218, "unshare": 97, "perf_event_open": 241, "setns": 268,
                             "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280, "userfaultfd": 282,
                             "reboot": 142, "swapon": 224, "swapoff": 225, "sethostname": 161, "setdomainname": 162, "delete_module": 106,
                             "quotactl": 60, "kexec_file_load": 294, "settimeofday": 170, "clock_settime": 112, "clock_adjtime": 266,
                             "adjtimex": 171, "acct": 89, "syslog": 116, "fanotify_init": 262, "open_by_handle_at": 265, **NEWER}, 277, 29),
}
NO_NEW_PRIVS = 38
LIBC = ctypes.CDLL(None, use_errno=True)
_facts = {}


def facts():
    """What a run's header says of the box: {"sandbox": "files, network"}."""
    return dict(_facts)


def _call(*words):
    """A system call; OSError where it fails."""
    done = LIBC.syscall(*(ctypes.c_long(w) if isinstance(w, int) else w for w in words))
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


def _keep_files(readable, writable):
    """Landlock: `readable` None leaves all files readable."""
    version = _call(CREATE_RULESET, None, 0, 1)
    handled = RIGHTS_OF_VERSION[max(v for v in RIGHTS_OF_VERSION if v <= version)]
    if readable is None:
        handled &= ~READ
    rules = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)  # files; TCP; sockets' names and signals
    rules = rules[:24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _call(CREATE_RULESET, ctypes.create_string_buffer(rules, len(rules)), len(rules), 0)
    for paths, rights in ((readable or [], READ), (writable, handled)):
        for path in paths:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:  # not on this machine
                continue
            allowed = rights & handled & (~0 if os.path.isdir(path) else OF_FILES)
            rule = struct.pack("=Qi", allowed, opened)
            if allowed:
                _call(ADD_RULE, ruleset, 1, ctypes.create_string_buffer(rule, len(rule)), 0)
            os.close(opened)
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _refuse_calls():
    """seccomp, for all threads: the calls above fail with EPERM; those of another machine's numbering end the process."""
    machine, calls, seccomp, ioctl = CALLS[platform.machine()]
    one = lambda code, yes, no, k: struct.pack("=HBBI", code, yes, no, k)  # noqa: E731  a line of the filter
    load, equal, above, answer = 0x20, 0x15, 0x35, 0x06
    kill, refuse, allow = 0x80000000, 0x00050001, 0x7FFF0000
    lines = [one(load, 0, 0, 4), one(equal, 1, 0, machine), one(answer, 0, 0, kill), one(load, 0, 0, 0),
             one(above, 0, 1, 0x40000000), one(answer, 0, 0, kill)]
    numbers = sorted(calls.values())
    lines += [one(equal, len(numbers) - i + 4, 0, number) for i, number in enumerate(numbers)]
    # No keys are put into a terminal (TIOCSTI, TIOCLINUX), whose shell would run them: the second argument of ioctl.
    lines += [one(equal, 0, 3, ioctl), one(load, 0, 0, 24), one(equal, 2, 0, 0x5412), one(equal, 1, 0, 0x541C)]
    lines += [one(answer, 0, 0, allow), one(answer, 0, 0, refuse)]
    code = ctypes.create_string_buffer(b"".join(lines))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(lines), ctypes.addressof(code)))
    _call(seccomp, 1, 1, program)


def needed_by_python():
    """What this Python, its modules and the system's libraries are read from."""
    own = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, os.path.dirname(os.path.abspath(sys.argv[0]))]
    here = os.path.dirname(os.path.abspath(__file__))
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    system = ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/nix", "/sys", "/proc/self",
              "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys", "/proc/driver", os.path.expanduser("~/.keras/keras.json")]
    return [p for p in [*own, here, *libraries, *system] if p and os.path.realpath(p) != "/"]


def devices():
    """What is read or written and is no file: sources, a sink, shared memory, and GPUs; no disk, which root could read whole."""
    return ["/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/fd", "/dev/null", "/dev/shm", "/dev/dri", "/dev/kfd", *glob.glob("/dev/nvidia*"), "/dev/nvidia-caps"]


def close(readable, writable):
    """Closes this process for good. `readable`: what is read beside Python's own; None: all. `writable`: folders, ours among them."""
    if os.environ.get("DNN_ADAPTER_BOX") == "off":
        _facts["sandbox"] = "off"
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kept, not_kept = [], []
    try:
        if LIBC.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError("no_new_privs is not known")
        for what, act in (("files", lambda: _keep_files(readable, writable)), ("network", _refuse_calls)):
            try:
                act()
                kept.append(what)
            except (OSError, KeyError) as error:
                not_kept.append(f"{what} ({error})")
    except (OSError, AttributeError) as error:
        not_kept.append(str(error))
    _facts["sandbox"] = ", ".join(kept) + (f"{'; ' if kept else ''}not: {', '.join(not_kept)}" if not_kept else "")


def close_for_model(path, folder, more=()):
    """For one model, which is read with what lies beside it; files go to `folder` ("": one that is made), which TMPDIR then names."""
    folder = folder or tempfile.mkdtemp(prefix="dnn-adapter-")
    os.environ["TMPDIR"] = os.environ["CUDA_CACHE_PATH"] = tempfile.tempdir = folder
    path = os.path.realpath(path)
    beside = path if os.path.isdir(path) else os.path.dirname(path)
    close([*needed_by_python(), path, beside, *map(os.path.realpath, more)], [folder, *devices()])


def close_for_many(outputs):
    """For models that are yet to be named, who asks being trusted with their paths: files go to TMPDIR and to the folders of `outputs`."""
    close(None, [tempfile.gettempdir(), *(os.path.dirname(os.path.abspath(path)) for path in outputs), *devices()])
