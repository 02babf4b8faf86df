"""Search: inverted and dense index, fusion, reranking, as PyTerrier transformers."""
