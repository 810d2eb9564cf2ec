"""Chat models behind one gateway: structured output, retries, limits, cache and accounting."""
