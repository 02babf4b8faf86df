"""Tables of words by which English refers to what has been named: kinds of things, pronouns, ends of a phrase."""

from __future__ import annotations

HE = frozenset({"he", "him", "his", "himself"})
SHE = frozenset({"she", "her", "hers", "herself"})
IT = frozenset({"it", "its", "itself"})
THEY = frozenset({"they", "their", "them", "themselves"})

# nouns that can stand for one another in "the ...": a page that calls itself a film is also "the movie"
_SYNONYMS = """
film movie picture feature documentary blockbuster
series show program programme sitcom miniseries drama
album record ep lp soundtrack release
song single track
video
game title
novel book novella story memoir
play musical opera
magazine newspaper journal paper publication
city town municipality capital
village hamlet community settlement town
country nation republic state kingdom
state territory province
county district borough
region area province district
island atoll
river stream creek tributary
lake reservoir
mountain peak summit
university school college institution
stadium arena venue ground field park
building structure house tower skyscraper pavilion mansion
church cathedral chapel
bridge structure
station
airport airfield
road highway route street
ship vessel boat submarine
aircraft airplane plane airliner jet
car vehicle automobile
engine
breed
species genus
plant tree
language dialect
award prize honour honor
ceremony telecast event
season campaign
tournament competition event championship race
war conflict
battle engagement
festival event
election
museum gallery
hotel resort
theatre theater playhouse cinema
neighborhood neighbourhood district area
cyclone storm hurricane typhoon
shop store
commission committee council body
console device
hospital
prison
mine
company firm corporation business manufacturer subsidiary retailer
label
channel network station broadcaster
airline carrier
party
agency department
organization organisation association foundation charity
conference league division
empire kingdom dynasty
software
law act
"""
# as above, and "they" as well as "it"
_COLLECTIVE = """
band group duo trio quartet quintet ensemble act
club team side franchise squad
orchestra choir
family
army regiment unit division
tribe people
crew
"""
SYNONYMS: dict[str, frozenset[str]] = {}
for _line in (_SYNONYMS + _COLLECTIVE).split("\n"):
    for _noun in _line.split():
        SYNONYMS[_noun] = SYNONYMS.get(_noun, frozenset()) | frozenset(_line.split())
COLLECTIVE = frozenset(_COLLECTIVE.split())

PERSON = frozenset(
    """
    actor actress singer songwriter rapper musician composer guitarist drummer bassist pianist vocalist dj conductor
    director producer filmmaker screenwriter writer author poet novelist playwright journalist editor critic comedian
    comedienne presenter host broadcaster model dancer choreographer artist painter sculptor photographer designer
    architect engineer inventor scientist physicist chemist biologist mathematician astronomer economist historian
    philosopher theologian scholar academic professor teacher educator lecturer psychologist physician doctor surgeon
    nurse lawyer attorney judge justice jurist politician diplomat statesman activist feminist soldier officer general
    admiral pilot astronaut explorer businessman businesswoman entrepreneur executive banker investor philanthropist
    footballer player quarterback midfielder defender goalkeeper striker forward pitcher catcher outfielder infielder
    lineman linebacker receiver coach manager cricketer golfer swimmer athlete sprinter runner cyclist boxer wrestler
    fighter gymnast skater skier racer driver jockey umpire referee sportsman personality celebrity performer
    entertainer magician king queen prince princess emperor empress duke duchess earl baron baroness count countess
    lord lady bishop archbishop cardinal pope priest monk nun saint rabbi missionary president governor senator mayor
    minister ambassador spy criminal murderer killer outlaw gangster nobleman noblewoman aristocrat socialite man
    woman boy girl person member leader founder chairman officeholder
    """.split()
)
SHE_NOUNS = frozenset(
    "actress comedienne businesswoman queen princess empress duchess baroness countess lady nun woman girl".split()
)

# words that end the noun phrase behind "is a"
BOUNDARIES = frozenset(
    """
    who that which whose of where when while by from for with in on at as about under between during since until after
    before against among near through is was are were has had have directed written produced starring featuring based
    located situated released founded established born set developed published created held played known named called
    titled recorded composed launched owned operated consisting comprising formed dramatizing following aired
    premiered depicting serving to
    """.split()
)
# "one of the six colleges", "a type of engine": what follows "of" says what it is
PARTITIVES = frozenset("one type kind form sort name part some any two three".split())

# "the club of", "the film that", "the band called": the noun is described by what follows
RESTRICTING = frozenset("of that which who whom whose called named titled entitled".split())

# what "it" stands for here is a clause: "it was announced that"
EXPLETIVE = frozenset(
    """
    common possible impossible necessary important likely unlikely unclear clear true difficult easy hard worth
    announced reported revealed said believed assumed thought confirmed suggested estimated known argued claimed hoped
    noted rumored rumoured alleged decided agreed expected understood stated speculated determined not also then later
    """.split()
)

# with these alone left over, a shorter name is another thing: York, New York
QUALIFIERS = frozenset(
    """
    new old north south east west northern southern eastern western central upper lower great greater little inner
    outer mid san santa los las el la saint st fort mount port lake nazi soviet imperial royal the an a super modern
    standard late middle early medieval ancient classical american british european african asian young
    """.split()
)
# names that are no one's surname: Colombia is not short for Sony Music Colombia
COUNTRIES = frozenset(
    """
    afghanistan albania algeria angola argentina armenia australia austria azerbaijan bahrain bangladesh belarus
    belgium bolivia botswana brazil britain bulgaria burma cambodia cameroon canada chile china colombia croatia cuba
    cyprus denmark ecuador egypt england estonia ethiopia europe fiji finland france georgia germany ghana greece
    guatemala haiti honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan
    kazakhstan kenya korea kosovo kuwait laos latvia lebanon liberia libya lithuania luxembourg macedonia malaysia
    malta mexico moldova mongolia montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua niger
    nigeria norway oman pakistan palestine panama paraguay peru philippines poland portugal qatar romania russia
    rwanda scotland senegal serbia singapore slovakia slovenia somalia spain sudan sweden switzerland syria taiwan
    tanzania thailand tunisia turkey uganda ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia zimbabwe
    africa asia america california texas florida york london paris ohio michigan virginia carolina dakota
    """.split()
)
PARTICLES = frozenset("van von de der den di da del della du la le al el bin ibn ten ter y".split())
