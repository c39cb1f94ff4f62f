"""usage: what scripts say of themselves: --help, also where a package that they need is missing."""
import sys


def answer_help(doc):
    """Prints the script's own description and ends it, where --help is among the arguments."""
    if {"--help", "-h"} & set(sys.argv[1:]):
        print(doc.strip())
        sys.exit(0)


def give_up(doc, missing):
    """Ends a script whose import failed as `missing` says: with its help where that is asked for, else with one line."""
    answer_help(doc)
    print(f"{doc.split(':')[0]}: error: {missing}; run it with a Python that has the packages that --help names", file=sys.stderr)
    sys.exit(5)
