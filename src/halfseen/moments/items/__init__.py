"""Moments of product mixtures: columns of any kind that are independent given the class."""

from halfseen.moments.items.features import Item
from halfseen.moments.items.start import ItemStart, item_start

__all__ = ["Item", "ItemStart", "item_start"]
