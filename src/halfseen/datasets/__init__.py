"""A small simulated table to try things on: patients with vital signs and a few blood tests."""

from halfseen.datasets.clinic import Clinic, load_clinic

__all__ = ["Clinic", "load_clinic"]
