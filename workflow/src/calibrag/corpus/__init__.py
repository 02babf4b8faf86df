"""Documents to passages: sentences, chunks, names, and the passages that hold the gold support."""
