"""Normal columns that go along with each other by a few factors behind them."""
