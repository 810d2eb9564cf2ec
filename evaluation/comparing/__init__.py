"""`factloop compare`: two finished runs, or two systems of one run, side by side."""
