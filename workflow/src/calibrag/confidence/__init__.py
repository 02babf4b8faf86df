"""The confidence study: signals of the record, and confidence fitted on them."""
