"""Options that many tests give."""

DIAG = ("--covariance", "diag")
"""For tests that are about something else: to compare kinds of covariance takes many fits."""
