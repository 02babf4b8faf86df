"""How good the answers, rankings and confidences are: measures, intervals, and tables a question and a run."""
