"""Reading tables: whatever a user has becomes rows, with names, kinds and codes of its columns."""
