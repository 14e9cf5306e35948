"""How many, how sure, and what to distrust."""
