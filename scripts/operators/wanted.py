"""wanted: the cases of scripts/check-operators are asked for, and the making of those whose rows write their own files."""
import os


def wants(name, wanted):
    """Whether the name begins as one of these, or as none of those that begin with ^."""
    others = tuple(w[1:] for w in wanted if w.startswith("^"))
    return not name.startswith(others) if others else name.startswith(wanted)


def made(rows, folder, wanted):
    """A case for each file of (name, make) rows; make(folder) gives files, inputs by name, and outputs."""
    for name, make in rows:
        if not wants(name, wanted):
            continue
        try:
            files, inputs, outputs = make(folder)
        except Exception as error:  # what this version does not have is no case
            yield {"name": name, "error": f"{type(error).__name__}: {str(error).strip()}".split("\n")[0]}
            continue
        for path in files:
            yield {"name": f"{name}/{os.path.splitext(path)[1][1:]}", "model": path, "inputs": list(inputs.items()), "outputs": outputs}
