"""Tests every configured part. Reports how it works and its limits, or how to fix it."""
