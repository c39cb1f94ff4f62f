"""processor: what the benchmarks say of the machine that they ran on."""
import platform
import re


def processor():
    try:
        with open("/proc/cpuinfo") as f:
            text = f.read()
        flags = re.search(r"^flags\s*: (.*)$", text, re.M)[1].split()
        isa = "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else "x86-64"
        return {"name": re.search(r"^model name\s*: (.*)$", text, re.M)[1], "isa": isa, "amx": "amx_tile" in flags}
    except (OSError, TypeError):
        return {"name": platform.machine()}
