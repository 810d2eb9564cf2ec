"""`factloop research verify` scores claim-document pairs with several verifiers."""
