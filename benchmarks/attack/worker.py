"""One process of attacks: says which one begins, and what came of it, a line of JSON each.

It is started by the watch, which notices if it dies. A timer in it that needs neither the
interpreter nor signals ends it, with the lines it hangs at, if an attack takes too long.
"""

import argparse
import faulthandler
import json
import logging
import sys
import tempfile
import time
import warnings
from pathlib import Path

from benchmarks.attack.defect import Defect
from benchmarks.attack.kinds import Attack, loaded
from benchmarks.attack.ours import is_ours, where

REFUSED = "refused"


def outcome(attack: Attack, seed: int, folder: Path) -> tuple[str, str, bool]:
    """What came of an attack, in a word; details; and whether it is a defect."""
    try:
        return attack(seed, folder), "", False
    except Defect as defect:
        return defect.law, defect.found, True
    except Exception as error:
        if is_ours(error):
            return REFUSED, str(error), False
        return f"{type(error).__name__} that is not ours", where(error), True


def main() -> None:
    """Attack with every n-th seed from the first on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home")
    for name in ("first", "end", "step"):
        parser.add_argument(name, type=int)
    parser.add_argument("deadline", type=float)  # in seconds from now
    parser.add_argument("limit", type=float)
    options = parser.parse_args()
    said, sys.stdout = sys.stdout, sys.stderr  # what attacks print is none of the watch's lines
    warnings.simplefilter("ignore")
    logging.disable()
    attack = loaded(options.home)
    deadline = time.monotonic() + options.deadline
    for seed in range(options.first, options.end, options.step):
        if time.monotonic() > deadline:
            break
        print(json.dumps({"begins": seed}), file=said, flush=True)
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            faulthandler.dump_traceback_later(options.limit, exit=True)
            start, idle = time.monotonic(), time.process_time()
            word, details, defect = outcome(attack, seed, Path(folder))
            faulthandler.cancel_dump_traceback_later()
        times = {"took": time.monotonic() - start, "worked": time.process_time() - idle}
        line = {"seed": seed, "word": word, "details": details, "defect": defect}
        print(json.dumps(line | times), file=said, flush=True)


if __name__ == "__main__":
    main()
