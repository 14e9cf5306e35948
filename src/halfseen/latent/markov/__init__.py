"""Components of rows that follow each other: a chain of states along every sequence."""
