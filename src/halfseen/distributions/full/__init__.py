"""Normal columns that go along with each other within a component."""
