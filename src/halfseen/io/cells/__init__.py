"""Cells of a table as files write them: words for gaps, ways to write numbers."""
