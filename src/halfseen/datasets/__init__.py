"""A small simulated table of patients, for examples."""

from halfseen.datasets.clinic import Clinic, load_clinic

__all__ = ["Clinic", "load_clinic"]
