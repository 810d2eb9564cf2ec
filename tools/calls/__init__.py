"""The way of every paid or fallible call: limits, retries, cache, single flight, budget and accounting."""
