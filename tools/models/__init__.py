"""Calls chat models through a gateway with structured output, retries, limits, caching and accounting."""
