"""A scripted world for agents: fakes of retrieval, entailment and reading, at the seam of the effects."""

from calibrag.agents.orchestrator import EvidencePass
from calibrag.agents.protocol import (
    Converse,
    Entail,
    Entailed,
    FindName,
    NameMatches,
    Performed,
    Proposal,
    Proposals,
    ProposeAnswers,
    Retrieval,
    Retrieve,
    Retrieved,
)
from calibrag.agents.settings import EntitySearchLimits, EvidenceAgent, Gate, Limits, PassConfidence
from calibrag.records import Hit, NameCount, Passage, Question

QUESTION = Question(qid="q1", text="Who directed Heat?", answers=["Michael Mann"])

SETTINGS = EvidenceAgent(
    gate=Gate(min_nuggets=2, strong_entailment=0.9, confidence_floor=0.2),
    limits=Limits(turns=20, tokens=1000, transcript=500, seconds=None),
    verified_entailment=0.5,
    most_neighbours=2,
    entity_search=EntitySearchLimits(passages=2, names=3),
    read_sentences=2,
    confidence=PassConfidence(rule="noisy_or_evidence", full_evidence=3, turned_back_discount=0.9, overlap_weight=0.5),
    fallback_passages=3,
)


def passage(passage_id, text, kind="text"):
    return Passage(
        passage_id=passage_id,
        doc_id=passage_id.split("#")[0],
        title=passage_id.split("#")[0],
        heading=None,
        kind=kind,
        ordinal=0,
        start=0,
        end=len(text),
        text=text,
    )


PASSAGES = [
    passage("Heat#0", "Heat is a 1995 film. It was directed by Michael Mann. It was shot in Los Angeles."),
    passage("Mann#0", "Michael Mann directed Heat, Ali and Collateral. He was born in Chicago."),
    passage("Ali#0", "Ali is a 2001 film."),
]


# stands beside Heat#0 in its document, and no search ranks it
BESIDE = passage("Heat#1", "Its sequel was never made.")


def _found(passages, excluded):
    kept = [p for p in passages if p.passage_id not in excluded]
    return [
        Retrieved(hit=Hit(passage_id=p.passage_id, rank=r, score=1.0 / r), passage=p, sources="lexical dense")
        for r, p in enumerate(kept, 1)
    ]


class World:
    """Answers effects from fixed tables and keeps what was asked."""

    def __init__(self, entailments=None, proposals=(), fault=None, graph_names=(), turns=()):
        self.graph_names = list(graph_names)
        self.turns = iter(turns)
        self.entailments = entailments or {}
        self.proposals = proposals
        self.fault = fault
        self.asked = []

    def perform(self, effect):
        self.asked.append(effect)
        if self.fault and isinstance(effect, type(self.fault[0])):
            raise self.fault[1]
        if isinstance(effect, Retrieve):
            found = _found(PASSAGES, effect.excluded)
            wanted = effect.neighbours and not {"Heat#0", BESIDE.passage_id} & effect.excluded
            beside = {"Heat#0": [BESIDE]} if wanted else {}
            return Retrieval(found=found, neighbours=beside, graph_names=self.graph_names)
        if isinstance(effect, FindName):
            carrying = [p for p in PASSAGES if effect.name in p.text]
            found = _found(carrying, effect.excluded)[: effect.passages]
            return NameMatches(found=found, names=[NameCount(name=effect.name, passages=len(found))])
        if isinstance(effect, Entail):
            return [Entailed(score=self.entailments.get(premise, 0.0)) for _, premise, _ in effect.pairs]
        if isinstance(effect, Converse):
            said = next(self.turns)
            if isinstance(said, Exception):
                raise said
            return said
        assert isinstance(effect, ProposeAnswers)
        return Proposals(
            model="fake",
            tokens=100,
            proposals=[
                Proposal(text=text, probability=p, sentences=[s for s in effect.sentences if text in s.text])
                for text, p in self.proposals
            ],
        )


def calls(*script):
    """Return a policy that makes these calls in turn, and the list of the replies that it gets."""
    replies = []

    def policy(question):
        for call in script:
            replies.append((yield call))

    return policy, replies


def run(policy, world, *, settings=SETTINGS, pass_number=1, excluded=frozenset(), earlier=()):
    """Return the trace of one pass in a scripted world."""
    steps = EvidencePass(QUESTION, policy, settings, pass_number, excluded, earlier).run("toy", "scripted")
    try:
        effect = next(steps)
        while True:
            try:
                reply = world.perform(effect)
            except Exception as fault:  # noqa: BLE001 - thrown into the agent, as the driver does
                effect = steps.throw(fault)
            else:
                effect = steps.send(Performed(reply, 0.5))
    except StopIteration as end:
        return end.value
