"""Attacks that are known to go wrong, one a seed."""

import ctypes
import os
import sys

from benchmarks.attack.defect import Defect
from halfseen import DataError
from halfseen.estimators.parameter_checks import check_count

LONG = 30


def _hang():
    ctypes.PyDLL(None).sleep(LONG)  # as compiled code that keeps the interpreter's lock


def _end():
    os._exit(0)


def _divide():
    return 1 // 0


def _break_a_law():
    raise Defect("a law", "the details")


def _refuse():
    check_count("n_samples", 0, 1)


def _print():
    print('{"begins": 5}')
    print("noise", file=sys.stderr)
    return "fine"


def _raise_elsewhere():
    raise DataError("This was raised by a line that is not of the library.")


WRONG = {
    "hang of 1 s": (_hang,),
    "crash with code -6": (os.abort,),
    "crash with code 0": (_end,),
    "ZeroDivisionError that is not ours": (_divide,),
    "DataError that is not ours": (_raise_elsewhere,),
    "a law": (_break_a_law,),
    "refused": (_refuse,),
    "fine": (_print,),
}
EVERY = [one for several in WRONG.values() for one in several]


def attack(seed, folder):
    return EVERY[seed]()
