"""Provides access to chat models through one gateway with structured output, retries, limits, cache and accounting."""
