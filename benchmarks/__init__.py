"""Speed, cost and accuracy, each module a `main()`: `python -m benchmarks.NAME`."""
