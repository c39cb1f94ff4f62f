"""figures: what the benchmarks say of the machine that they ran on, of a figure that was taken many times, and of a training."""
import json
import platform
import re
import statistics
import tarfile


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


def last_accuracy(log, epochs):
    """Percent after the last epoch, or None where that was not reached."""
    if not log.exists():
        return None
    lines = [json.loads(line.split(": ", 1)[1]) for line in log.read_text().splitlines() if '"test_epoch"' in line]
    done = [line for line in lines if line["epoch"] == f"{epochs}/{epochs}"]
    return round(100 - done[-1]["top1_err"], 2) if done else None


def unpack(archive, folder):
    """Unpacks a tar file of ours; Python 3.11.4 and later refuse links out of the folder, too."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
