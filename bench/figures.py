"""figures: what the benchmarks say of the machine that they ran on, and of a figure that was taken many times."""
import platform
import re
import statistics


def processor():
    try:
        with open("/proc/cpuinfo") as f:
            text = f.read()
        flags = re.search(r"^flags\s*: (.*)$", text, re.M)[1].split()
        isa = "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else "x86-64"
        return {"name": re.search(r"^model name\s*: (.*)$", text, re.M)[1], "isa": isa, "amx": "amx_tile" in flags}
    except (OSError, TypeError):
        return {"name": platform.machine()}


def spread(values):
    quartiles = statistics.quantiles(values, n=4)
    return {"median": statistics.median(values), "q1": quartiles[0], "q3": quartiles[2], "min": min(values), "n": len(values)}
