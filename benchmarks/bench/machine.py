"""What figures were measured on: no names, only what makes it fast or slow."""

import os
import platform
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """Processor, cores and memory, as far as the system tells."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory GB": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
    return round(total / 1e9, 1)
