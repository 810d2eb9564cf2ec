"""What every paid or fallible call goes through: limits, retries, cache, single flight, budget and accounting."""
