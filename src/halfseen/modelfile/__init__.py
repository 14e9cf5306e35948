"""Models as files: the bytes, the values in them, and how they are put on disk."""
