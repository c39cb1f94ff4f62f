"""wanted: which cases of scripts/check-operators are asked for."""


def wants(name, wanted):
    """Whether the name begins as one of these, or as none of those that begin with ^."""
    others = tuple(w[1:] for w in wanted if w.startswith("^"))
    return not name.startswith(others) if others else name.startswith(wanted)
