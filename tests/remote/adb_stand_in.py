#!/usr/bin/env python3
"""A stand-in for adb: one Android device, whose /data/local/tmp is a folder here. It answers push, shell, shell -T and exec-out as adb of
platform-tools 34 does, for tests of what drives it. ADB_STAND_IN is "SERIAL FOLDER" or "SERIAL FOLDER HOST:PORT"."""
import os
import pathlib
import shutil
import subprocess
import sys

TMP = "/data/local/tmp"


def fail(message):
    print(f"adb: {message}", file=sys.stderr)
    sys.exit(1)


def main(words):
    serial, folder, *server = os.environ["ADB_STAND_IN"].split()
    given = {"-H": "", "-P": "5037", "-s": ""}
    while words and words[0] in given:
        given[words[0]] = words[1]
        words = words[2:]
    if server and f"{given['-H']}:{given['-P']}" != server[0]:
        fail(f"cannot connect to daemon at tcp:{given['-P']}: Connection refused")
    if given["-s"] != serial:
        fail(f"device '{given['-s']}' not found")
    root = pathlib.Path(folder)
    (root / TMP[1:]).mkdir(parents=True, exist_ok=True)
    here = lambda text: text.replace(TMP, f"{root}{TMP}")
    work, *words = words
    if work == "push":
        *sources, target = words
        target = pathlib.Path(here(target))
        if not target.is_dir() and not target.parent.is_dir():
            fail(f"error: failed to copy '{sources[0]}' to '{words[-1]}': remote couldn't create file: No such file or directory")
        for source in sources:
            shutil.copy(source, target)  # with its mode
        print(f"{sources[0]}: {len(sources)} file pushed, 0 skipped. 123.4 MB/s ({os.path.getsize(sources[0])} bytes in 0.001s)")
    elif work == "shell":
        terminal = False
        while words and words[0] in ("-T", "-t", "-x", "-n"):
            terminal = words.pop(0) == "-t"
        command = ["sh", "-c", here(" ".join(words))]
        if not terminal:
            os.execvp("sh", command)  # both ways as bytes, standard error apart, its exit code
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        sys.stdout.buffer.write(done.stdout.replace(b"\n", b"\r\n"))  # as a terminal changes them
        sys.exit(done.returncode)
    elif work == "exec-out":
        subprocess.run(["sh", "-c", here(" ".join(words))], stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)  # and no exit code
    else:
        fail(f"unknown command {work}")


main(sys.argv[1:])
