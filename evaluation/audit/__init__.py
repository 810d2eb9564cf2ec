"""`factloop audit`: how far evaluators can be trusted (Godbole & Jia, "Verify with Caution")."""
