"""Federated fits: plans, sums of rows, disclosure control and noise."""
