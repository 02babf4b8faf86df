"""Whether evidence holds: quotes that stand in a passage, claims that it entails."""
