"""Makes all calls that cost money or can fail, with limits, retries, caching, deduplication, budgets and accounting."""
