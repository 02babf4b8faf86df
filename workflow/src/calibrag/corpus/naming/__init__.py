"""Names that passages refer to without spelling them out, the union of both origins, and how right they are."""
