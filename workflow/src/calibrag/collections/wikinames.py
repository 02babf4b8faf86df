"""Names in wikitext that decide what a reader sees: of tags, templates, parameters, files and namespaces.

English ones throughout, and the common ones of other Wikipedias.
"""

from __future__ import annotations

import re

FILE = re.compile(
    r"\s*(file|image|media|datei|bild|fichier|archivo|imagen|ficheiro|imagem|immagine|bestand|afbeelding|plik|grafika"
    r"|fil|lêer|файл|изображение)\s*:",
    re.I,
)
CATEGORY = re.compile(
    r"\s*(category|kategorie|catégorie|categoría|categoria|categorie|kategoria|kategori|категория)\s*:", re.I
)
LANGUAGE_LINK = re.compile(r"\s*([a-z]{2,3}|[a-z]{2,3}-[a-z-]+|simple)\s*:\s*\S")
REDIRECT = re.compile(
    r"\s*#\s*(redirect|weiterleitung|redirection|redirección|redirecionamento|rinvia|doorverwijzing|patrz|перенаправление)"
    r"\s*:?\s*\[\[",
    re.I,
)
FILE_OPTION = re.compile(
    r"\s*(thumb(nail)?|mini(atur)?|frame(d|less)?|border|left|right|center|centre|none|links|rechts|zentriert|baseline"
    r"|middle|sub|super|top|text-top|bottom|text-bottom|hochkant|upright(\s*=.*)?|hochkant\s*=.*|\d*\s*x?\s*\d+\s*px"
    r"|(alt|link|class|lang|page|seite|start|end|thumbtime)\s*=.*)\s*",
    re.I | re.S,
)
FILE_NAME = re.compile(r"\S.*\.(jpe?g|png|svg|gif|tiff?|webp|og[gav]|webm|mp3|wav|pdf|djvu|mid)\s*", re.I)

# tags whose content is not shown where it stands
UNSEEN_TAGS = frozenset(
    "ref references templatestyles timeline score graph mapframe maplink includeonly indicator categorytree inputbox"
    " style script imagemap section hiero".split()
)
BLOCK_TAGS = frozenset("div p center blockquote poem pre source syntaxhighlight table hr tr td th caption".split())
VERBATIM_TAGS = frozenset("nowiki pre source syntaxhighlight math code chem ce".split())
LIST_TAGS = frozenset({"ul", "ol", "dl"})
ITEM_TAGS = frozenset({"li", "dt", "dd"})

_TABLE_TEMPLATES = re.compile(r"(automatic )?taxobox|speciesbox|geobox|chembox|drugbox|.*\binfobox\b", re.I)

# templates around running text
TEXT_TEMPLATES = frozenset(
    "quote|cquote|blockquote|block quote|quotation|rquote|quote box|bquote|zitat|poemquote|poem|verse translation"
    "|columns-list|div col|columns|flatlist|plainlist|plain list|collapsible list|hidden|collapse top|center"
    "|aligned table|block indent|indent".split("|")
)

_UNSEEN_TEMPLATES = frozenset(
    # references
    "r|rp|sfn|sfnp|refbegin|refend|literatur|internetquelle|fn|fnz|lsj|iep|sep entry|isbn missing|full citation needed"
    # hatnotes
    "|main|main article|hauptartikel|see also|seealso|further|further2|further information|details|about|about2|for"
    "|for2|for-multi|other uses|other people|other places|redirect|redirect2|distinguish|hatnote|weiterleitungshinweis"
    "|begriffsklärungshinweis|dieser artikel|related articles|lookfrom|similar names"
    # links to elsewhere
    "|portal|portal bar|official website|imdb name|imdb title|allmusic|allmovie|amg movie|amg name|rotten-tomatoes"
    "|mojo title|discogs|dmoz|youtube|facebook|twitter|instagram|wikivoyage|wikiquote|wikisource|wiktionary"
    "|wikinews|wikispecies|wikibooks"
    "|wikiversity|wikidata|subject bar|in our time|external links|google books|google buch"
    # about the article
    "|authority control|normdaten|persondata|personendaten|short description|good article|featured article|lesenswert"
    "|exzellent|italic title|italictitle|displaytitle|pp|bots|nobots|fact|cn|clarify|when|who|which|where|why|by whom"
    "|according to whom|better source|better source needed|dubious|disputed|disputed inline|refimprove|tone|advert"
    "|globalize|one source|technical|essay-like|coi|orphan|in use|cleanup|notability|pov|weasel|peacock|blp sources"
    "|nofootnotes|no footnotes|multiple issues|page needed|vague|update|update after|update inline"
    "|subscription required|sources|registration required|primary sources|original research|inconsistent citations"
    "|request quotation|page number|unreliable source?|self-published source|third-party|copy edit|expand section"
    "|expand list|expand language"
    # navigation and layout
    "|toc|compact toc|tocright|tocleft|toc limit|clear|-|clear left|clear right|anchor|anker|col-begin|col-end"
    "|col-break|div col end|end div col|columns end|colorbox|color box|legend0|flagicon|flag icon|flagicon image|coord"
    "|coord missing|start box|end box|succession box|succession|navboxes|naviblock|navigationsleiste"
    "|sister project links|colbegin|colend|endflatlist|endplainlist|s".split("|")
)
_UNSEEN_BEGINNINGS = (
    "cite ", "cite-", "citation", "citar", "harv", "sfn", "ref ", "refn", "reflist", "references", "efn", "note ",
    "notelist", "webarchive", "wayback", "webarchiv", "dead link", "google books", "commons", "sister", "use ",
    "engvar", "pp-", "unreferenced", "citation needed", "more citations", "more footnotes", "verify", "verification",
    "failed ", "navbox", "s-", "col-", "defaultsort", "sortierung", "#", "cleanup ", "expand ", "blp ",
    "year nav", "imdb ",
)  # fmt: skip
_UNSEEN_ENDS = (" stub", "-stub", "sidebar", " icon", " navbox", " needed", " inline")

_UNSEEN_PARAMETER = re.compile(
    r"(image|img|logo|photo|cover|picture|bild|map|flag|seal|shield|signature|coat|coa|pushpin|mapframe|label|embed|child"
    r"|nocat|style|colou?r|bgcolor|above|width|height|size|upright|alt|coor|coords|module|nested|italic|mark|pattern"
    r"|leftarm|rightarm|background)[\w -]*"
    r"|[\w -]*(image|[ _-]?size|[ _-]alt|style|colou?r|width|upright|coordinates|background)"
    r"|(lat|long?)(d|m|s|ns|ew|itude|_[a-z]+)?",
    re.I,
)
_CAPTION_PARAMETER = re.compile(r"(.*[_ ])?(caption|capt|bildtext)\d*|label", re.I)
TEXT_PARAMETER = re.compile(r"\d+|text|quote|content|source|author|sign|title")
# what an infobox takes for its own use: colours, sizes, switches
SETTING = re.compile(r"#?[0-9a-f]{6}|y|n|auto|on|off|[\d.]+px", re.I)
SIZE = re.compile(r"\s*[\d.]*(em|px|%)?\s*")


def is_table_template(name: str) -> bool:
    """Return whether a template (lower case) is an infobox or like one."""
    return _TABLE_TEMPLATES.match(name) is not None


def is_unseen_template(name: str) -> bool:
    """Return whether a template (lower case) shows no text of the article: references, notices, navigation."""
    return name in _UNSEEN_TEMPLATES or name.startswith(_UNSEEN_BEGINNINGS) or name.endswith(_UNSEEN_ENDS)


def is_unseen_parameter(name: str) -> bool:
    """Return whether a parameter of an infobox says how it looks, not what it says."""
    return _UNSEEN_PARAMETER.fullmatch(name) is not None and not _CAPTION_PARAMETER.fullmatch(name)
