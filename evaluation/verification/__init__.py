"""`factloop research verify`: pairs of claim and document scored by several verifiers."""
