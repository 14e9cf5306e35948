"""Hidden Markov models from sequences of rows with gaps."""
