"""Models behind narrow seams: embedder, cross-encoders, reader, tagger, and the training of their adapters."""
