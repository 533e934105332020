"""Reading ledgers. Nothing here may ask a view or a store: what the recall did not write down is not known."""
