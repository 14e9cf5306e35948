"""The door: whatever a user has becomes rows here."""
