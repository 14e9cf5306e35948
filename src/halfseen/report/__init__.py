"""A learned model explained to people: in words, and on a page."""
