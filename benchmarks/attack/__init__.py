"""Attackers: programs that try to make the library hang, crash, lie or leave files half written.

Run ``python -m benchmarks.attack tables --number 1000``. An attack is a function from a seed to
what came of it; the same seed is the same attack, so that a defect is told by the command that
shows it again. Nothing here knows a model's name: whatever is registered is attacked by
being registered.
"""
