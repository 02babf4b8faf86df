"""Running agents over questions: what they ask of the world is performed here, many questions at a time."""
