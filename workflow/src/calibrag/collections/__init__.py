"""Collections of documents and questions: readers of each format (see ``reading``), splits of the shipped ones."""
