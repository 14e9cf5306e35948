"""Experiments that anybody can run again, with the results they gave."""
