"""Attacks that are known to go wrong, one a seed."""

import ctypes
import os
import sys
import time

from benchmarks.attack.defect import Defect
from halfseen import DataError
from halfseen.models import MODELS, USUAL_MODEL

LONG = 30
MODELS[USUAL_MODEL]  # is loaded before the clock runs


def _hang():
    time.sleep(LONG)


def _hang_in_compiled_code():
    ctypes.PyDLL(None).sleep(LONG)  # which keeps the interpreter's lock


def _end():
    os._exit(0)


def _divide():
    return 1 // 0


def _break_a_law():
    raise Defect("a law", "the details")


def _refuse():
    MODELS[USUAL_MODEL](n_components=-1).fit([[1.0, 2.0]])


def _print():
    print('{"begins": 5}')
    print("noise", file=sys.stderr)
    return "fine"


def _raise_elsewhere():
    raise DataError("This was raised by a line that is not of the library.")


WRONG = {
    "hang of 3 s": (_hang, _hang_in_compiled_code),
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
