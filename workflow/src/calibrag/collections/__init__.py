"""Collections of documents and questions: readers of each format."""
