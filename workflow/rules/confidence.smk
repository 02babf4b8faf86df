"""How well can the record of a run say whether its answer is right?

Needs     traces, answer runs, labels of their answers
Makes     results/{collection}/{system}/confidence/
Steps     none yet
"""
