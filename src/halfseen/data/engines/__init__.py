"""Where rows live, and how sums over them are run."""
