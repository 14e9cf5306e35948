"""What may be hidden behind a row, whatever its columns: shared by the models that have it."""
