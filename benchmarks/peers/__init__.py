"""The same answers through other checkers and factloop, with the same model behind them."""
