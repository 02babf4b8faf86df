"""What a reader sees of the results: tables and figures, made from the frames that evaluation returns."""
