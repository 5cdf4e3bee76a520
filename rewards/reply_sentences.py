"""What each sentence of a reply does: asks, declines, states something, or goes with what the others do.

The rules are our own and for English; each sentence goes through them in the order of ``_clause_roles``. For other
languages a few dozen phrases are known, and a question mark of any script asks. Everything is linear in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

__all__ = ["QUOTATION", "Role", "Sentence", "sentences_of"]

Role = Literal["ask", "decline", "unless", "offer", "state", "soft", "padding"]
"""``unless``: unable for want of something, which is a question where one follows. ``offer``: a question whether to
do more. ``soft``: advice, a plan, a reason, the choices there are; it goes with an ask or a decline and answers only
where there is neither. ``padding``: greetings, thanks, apologies."""

QUOTATION = "\ufffc"
"""Stands for what is quoted, a block of code or an address: what is said there is not said by the reply."""


class Sentence(NamedTuple):
    """One sentence, or one item of a list."""

    text: str
    """In lower case and without markup, quotations replaced by ``QUOTATION``."""
    roles: frozenset[Role]
    """Mostly one; several where its clauses differ."""
    quoted: tuple[str, ...]
    """The quotations, in order."""

    @property
    def whole(self) -> str:
        """The text with its quotations."""
        quoted = iter(self.quoted)
        return "".join(next(quoted, "") if character == QUOTATION else character for character in self.text)


@lru_cache(maxsize=256)  # several rewards look at one reply
def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of a reply and what they do; none where there is nothing to read. Never raises."""
    plain = text.translate(_STRAIGHT).strip().lower()
    if len(plain) > 2 and plain[0] == plain[-1] == '"' and plain.count('"') == 2:
        plain = plain[1:-1]  # a reply in quotes is a reply
    quotations = iter(_QUOTATIONS.findall(plain))
    plain = _QUOTATIONS.sub(lambda match: f"\n{QUOTATION}\n" if match[0].startswith("'''") else QUOTATION, plain)
    pieces = [piece for piece in _BOUNDARY.split(_ITEM.sub(_BULLET, plain)) if _MARKUP.sub("", piece)]
    if len(pieces) > 1:
        pieces = [piece for piece in pieces if not _NO_WORDS.fullmatch(piece)]
    english = _leaning(plain) >= 0
    found: list[Sentence] = []
    listing = False  # "I need two things:" is followed by them
    for piece in pieces:
        sentence = _MARKUP.sub("", piece)
        listed = listing and piece.startswith(_BULLET)
        roles: frozenset[Role] = frozenset(("ask",) if listed else _roles(sentence, english))
        quoted = tuple(next(quotations, "") for _ in range(sentence.count(QUOTATION)))
        found.append(Sentence(sentence, roles, quoted))
        listing = listed or ("ask" in roles and sentence.endswith((":", "：")))
    return tuple(found)


def _roles(sentence: str, english: bool) -> set[Role]:
    """What a sentence does; ``english`` says what the reply is, where the sentence alone does not show it."""
    asks = sentence.rstrip(" \"')]*_!" + QUOTATION).endswith(_QUESTION_MARKS)
    foreign = _foreign_roles(sentence, asks)
    leaning = _leaning(sentence)
    if "decline" in foreign or leaning < 0 or not (leaning or english):
        told = any(character.isdigit() or character == QUOTATION for character in sentence)
        return foreign or {"state" if told else "soft"}
    roles: set[Role] = {"state"} if (_GIVEN if asks else _RESULT).search(sentence) else set()
    clauses = [part for part in _BREAK.split(sentence if asks else _SPLICE.sub("; ", sentence)) if part.strip(" ,.!")]
    for number, clause in enumerate(clauses):
        question = asks and (number == len(clauses) - 1 or bool(_INTERROGATIVE.match(clause.strip())))
        roles |= _clause_roles(clause.strip(" ,"), question)
    return roles or {"padding"}


def _clause_roles(clause: str, question: bool) -> set[Role]:
    lead = _LEAD.match(clause)
    rest = clause[lead.end() :] if lead else clause
    if question and _GREETING.search(rest):
        return {"padding"}
    if question and _OFFER.match(rest):
        return {"offer"}
    if question and _SUGGESTION.match(rest):
        return {"state"}
    roles: set[Role] = set()
    unable = _UNABLE.search(rest)
    if unable:
        end = rest.find(",", unable.end())
        roles.add("unless" if _UNLESS.search(rest[:end] if end >= 0 else rest) else "decline")
    if question or _REQUEST.search(rest) or _NEED.search(rest):
        roles.add("ask")
    return roles or {_statement_role(clause, rest, bool(lead and _SORRY.match(clause)))}


def _statement_role(clause: str, rest: str, sorry: bool) -> Role:
    """What a clause does that neither asks nor declines; ``rest`` is the clause without its opening."""
    rest = _PREFACE.sub("", rest.rstrip(" .!,:…"), count=1)
    if _COURTESY.fullmatch(rest) or _COURTESY.fullmatch(clause.rstrip(" .!")):
        return "padding"
    if sorry and rest.isalpha():  # "Apologies, Emily."
        return "padding"
    if _SOFT.match(rest) and not _CLAIM.match(rest):
        return "soft"
    return "soft" if _REASON.fullmatch(rest) else "state"


def _foreign_roles(sentence: str, asks: bool) -> set[Role]:
    roles: set[Role] = {"ask"} if asks or _FOREIGN_REQUEST.search(sentence) else set()
    return roles | {"decline"} if _FOREIGN_UNABLE.search(sentence) else roles


def _leaning(text: str) -> int:
    """Above 0 where the rules for English apply, below where not, 0 where the words of grammar do not tell."""
    words = _LETTERS.findall(text)
    foreign = sum(word in _FOREIGN or not word.isascii() for word in words)
    return sum(word.partition("'")[0] in _ENGLISH for word in words) - foreign


def _one_of(alternatives: str) -> str:
    """A pattern for one of several, which bars and line ends separate."""
    return "(?:" + "|".join(line.strip() for line in alternatives.strip().splitlines()) + ")"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Cutting.

_STRAIGHT = str.maketrans(
    {**dict.fromkeys("’‘‛`´", "'"), **dict.fromkeys("“”„«»「」『』＂", '"'), QUOTATION: " ", "\r": "\n"}
)
# Backticks are apostrophes by now.
_QUOTATIONS = re.compile(r"'''.*?(?:'''|\Z)|\"[^\"\n]+\"|(?<!\w)'[^'\n]{1,200}'(?!\w)|https?://\S+", re.DOTALL)
# No sentence ends after one letter ("U.S. Bank", "e.g. one") or a title.
_BOUNDARY = re.compile(
    r"(?<![\s.(][a-z]\.)(?<!\bdr\.)(?<!\bmr\.)(?<!\bms\.)(?<!\bst\.)(?<!mrs\.)(?<!\bvs\.)"
    r"(?<=[.!?…])[\"')\]*_]*\s+|(?<=[。！？؟;])\s*|\n+\s*"
)
_BULLET = "•"
_ITEM = re.compile(r"^[ \t]*(?:[-*•·+]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_MARKUP = re.compile(r"^[\s*_#>•·\-+\"'(]+|[\s*_\"')]+$")
_NO_WORDS = re.compile(rf"[^\w{QUOTATION}]*")
_QUESTION_MARKS = tuple("?？؟\u037e՞፧")
_BREAK = re.compile(r"\s*[;—–]\s*|\s-\s|,?\s(?:but|however|although|though|yet)\s,?")
_SPLICE = re.compile(r",\s(?=(?:it|here|there)(?:'s|\sis|\sare)\b|the\s(?:answer|result|total|value)\b)")
_PREFACE = re.compile(
    r"(?:in order )?(?:to|for|in|since|as|because|at|on|with|if|when|based on|once|before|after|without)\b"
    r"[^,]{1,160},\s(?=(?:i|we|you|please|use|check|visit|contact|call|see|ask|try|go)\b)"
)
_LETTERS = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_ENGLISH = _words(
    """the is are was were an to of and in for i you it that this your my with on at can be do does has have not no
    there here by from will would which what how its as or so if they he she we his her their more than all about
    please but been could should may might these those up out just"""
)
_FOREIGN = _words(
    """el los las de del que para una un por es en le les des du est et pour vous je der das und ist ich sie den ein
    eine für o os um uma em não il di della che per sono het een ik u yang ini itu untuk saya anda kami dan dengan jag
    och det att ve bir için tôi bạn nie jest się"""
)

# Openings and courtesy.

_OPENING = _one_of(r"""
    sure(?: thing)?|of course|certainly|absolutely|okay|ok|al ?right|all right|great|perfect|yes|yeah|yep|no problem
    hello(?: there)?|hi(?: there)?|hey|good (?:morning|afternoon|evening)|thanks|thank you|(?:so |very )?sorry
    (?:my |sincere )*apologies|(?:i|we) (?:do )?(?:sincerely )?apologi[sz]e|unfortunately|regrettably|sadly|i regret
    (?:i'm|i am|we're|we are) (?:so |very |truly |really |terribly )?(?:sorry|afraid)|and|also|so|then|well|ah|oh|hmm
    um|actually|honestly|to be honest|please note|note|understood|got it|noted|i see(?=[,.!])|i understand(?=[,.!])
    assistant|currently|at the moment|right now|as of now|but|however|in that case|that said|first|finally
    as an? [\w -]{1,60}?(?=,)
""")
_LEAD = re.compile(rf"(?:{_OPENING}(?![\w'])[\s,.!:…*-]*(?:(?:that|to say(?: that)?|to inform you(?: that)?)\s)?)+")
_SORRY = re.compile(r"(?:so |very |my )?(?:sorry|apolog)|(?:i'm|i am) (?:so |very )?sorry")
_KIND = _one_of("""
    great|good|nice|wonderful|helpful|fine|lovely|exciting|fantastic|interesting|excellent|perfect
""")
_COURTESY = re.compile(
    _one_of(rf"""
    (?:for|about|to hear)\b[^,]*|{_KIND} (?:choice|question|idea|plan|news)|(?:that|this|it) (?:sounds?|looks?)\b.*
    (?:that|this)(?:'s| is) (?:(?:an?|very|really|so) )*{_KIND}\b.*
    (?:i|we)(?:'d| would|'ll| will|'m| am| can| could)?(?: be)?(?: \w+){{0,2}}? (?:help|assist)\b[^\d]*
    (?:happy|glad|here|love) to [^\d]*|one (?:moment|second).*|(?:let me know|feel free|don't hesitate)\b.*
    (?:good luck|enjoy|safe travels|have an?|best of luck|take care|best regards|sincerely)\b.*
""")
    + "?"
)

# Questions and requests.

_GREETING = re.compile(
    _one_of(r"""
    \b(?:how|what(?: else)?) (?:else )?(?:can|may|could) (?:i|we) (?:\w+ )?(?:help|assist|do)\b
    \b(?:any|some)thing else\b|\bother questions?\b|^how are you\b
""")
)
_OFFER = re.compile(
    _one_of(r"""
    would you (?:also |still )?like (?:me to|to|more|any|some|those|these|that|this|an?|another|further|help)
    do you (?:want|need) (?:me to|more|any|further|help|to (?:\w+ )?(?:more|proceed|continue))
    (?:shall|should) (?:i|we) (?:proceed|go ahead|continue)|shall (?:i|we)|want me to|what do you think|sounds? good
    (?:can|may|could) i (?:help|assist|suggest|offer|interest)
    (?:is|does|would|will) (?:that|this|it) (?:ok|okay|help|work|sound|do|be (?:ok|okay|fine|helpful))
""")
    + r"\b"
)
_SUGGESTION = re.compile(r"(?:how about|why not|why don't you)\b")
_INTERROGATIVE = re.compile(
    _one_of(r"""
    (?:(?:in|on|at|for|from|to|by|with) )?(?:which|what|when|where|who|whom|whose|how)\b
    (?:do|does|did|is|are|was|were|should|shall|would|could|can|will|have|has) (?:you|it|this|that|the|there|i|we)\b
""")
)
_TELL = _one_of("""
    provide|specify|tell|share|confirm|clarify|let (?:me|us) know(?! if)|give|indicate|supply|state|send|name|choose
    pick|describe|elaborate|mention|enter|reply|respond|type
""")
_REQUEST = re.compile(
    _one_of(rf"""
    \b(?:could|can|would|will|may|might) (?:you|i)(?: \w+){{0,2}}? (?:{_TELL}|know|ask|remind|select)\b
    \b(?:please|kindly)(?: also| just| first)? {_TELL}\b
    ^(?:tell me|give me|specify|clarify|let (?:me|us) know (?!if))\b
""")
)
_ALREADY = "(?:still|also|just|first|only|really|then)"
_NEEDS = r"(?:need|require|have to know|must know|want to know|'?m missing|am missing)\b"
_LEARN = r"(?:know|confirm|clarify|verify|have|be sure|make sure|understand|check|identify|get|ask|see)\b"
_TOLD = r"(?:say|said|mention|specif|provid|tell|told|give|given|state|include|indicate)"
_WHICH = r"(?= your\b|.{0,60}\b(?:which|what|when|where|who|whether|how|if)\b)"
_NEED = re.compile(
    _one_of(rf"""
    \b(?:i|we)(?:'ll|'d| will| would| do)?(?: {_ALREADY})? {_NEEDS}(?! to (?!{_LEARN}))
    \b(?:parameter|argument|field)s?(?: \S+){{0,3}} (?:is|are) (?:also )?(?:required|needed|mandatory)\b
    \b(?:is|are|was|were) (?:still )?missing\b|\bmissing (?:the|your|an?)\b|\bbefore i can\b
    \b(?:as soon as|once|when|after|if) you(?:'ve| have)? (?:tell|told|give|given|provide|share|confirm|specify)\b
    \b(?:as soon as|once|when|after|if) you(?:'ve| have)? let me know\b
    \byou (?:didn't|did not|haven't|have not|don't|never|forgot)(?: \w+){{0,2}}? (?:to )?{_TOLD}
    \b(?:i|we) (?:don't know|do not know|can't tell|cannot tell|wonder){_WHICH}
    \b(?:i|we)(?:'m| am| was)? (?:not sure|unsure|wondering){_WHICH}
    \b(?:i|we) (?:didn't|did not) (?:quite )?(?:understand|catch|get)\b|\b(?:unclear|ambiguous|not clear)\b
""")
)

# Inability.

_ADVERB = _one_of("""
    am|are|was|were|do|just|also|still|currently|really|simply|actually|sadly|unfortunately|personally|therefore
    honestly|however|regrettably|presently|myself|quite|directly|physically|completely|now|truly|afraid|sorry|only
    at the moment|right now
""")
_NOT_ABLE = _one_of("""
    can't(?! wait)|cannot(?! wait)|can not|cant|couldn't|could not|unable|not able|incapable|won't|will not|lack
    not (?:capable|equipped|designed|authori[sz]ed|permitted|allowed|built|set up|in a position|the right|something)
    (?:don't|do not) (?:currently |actually |really )?(?:have|support|offer|possess|provide|know|do|handle)
    have (?:no|neither)|haven't got|didn't find|did not find|(?:limited|restricted) to|decline|refuse
    (?:can|able to) only (?:help|assist|answer|provide|offer|support|handle|do|work)
    (?:must|have to|need to) (?:decline|refuse|pass)
""")
_TOOL = r"(?:tool|function|functionalit(?:y|ie)|api|capabilit(?:y|ie)|feature|plugin|service i have)s?"
_DOES_NOT = r"(?:can't|cannot|don't|doesn't|do not|does not|aren't|isn't|not|only|lacks?)"
_UNABLE = re.compile(
    _one_of(rf"""
    \b(?:i|we)(?:'m|'re|'ve)?(?:,? {_ADVERB},?){{0,3}} {_NOT_ABLE}\b
    ^(?:can(?:no|.)?t|can not|could not|unable|not able|not possible|impossible|no can do)\b
    ^(?:i|we)\b[^;]*?\b(?:and|but|so) (?:cannot|can't|am unable|am not able)\b
    ^no[.!]?$|\bi don't think i can\b|\bi doubt i can\b|\b(?:and|or|nor) (?:don't|do not) have (?:the|any|real)\b
    \b(?:none|neither|not one|not any) of (?:\w+ ){{0,4}}{_TOOL}\b|\bnone of (?:them|these|those)\b
    \b(?:no|without an?)(?: \w+){{0,3}} {_TOOL}\b|\b(?:isn't|aren't|is not|are not|not|never) (?:\w+ ){{0,2}}{_TOOL}\b
    (?:^|\b(?:the|my|our|these|those|this|that|any|of) (?:\w+ ){{0,3}}){_TOOL}(?: [\w'-]+){{0,9}}? {_DOES_NOT}\b
    \b(?:beyond|outside|exceeds?|out of|not within|not part of)(?: of)? (?:my|our|the scope|what (?:i|my)|scope)\b
    \b(?:that|this|it)(?:'s| is| was) (?:\w+ )?(?:not possible|impossible|unsupported|not supported)\b
    \b(?:isn't|aren't|is not|are not|not) (?:currently )?(?:supported|possible (?:for me|with)|available to me)\b
    n(?:o|')t something (?:that )?(?:i|we|my)\b
    \b(?:request|task|that|this|it|question)(?: \w+){{0,2}}? (?:cannot|can't|can not|could not) be\b
""")
)
_UNLESS = re.compile(
    _one_of(r"""
    \b(?:without|until|unless|before|enough|sufficient|which|what|when|where|who|whether|if)\b|\bhave your\b
    \b(?:tell|find|identify|determine|be sure|proceed|continue|go ahead)\b
""")
)

# Statements: what is told, what was done, and what only goes with the rest.

_RESULT = re.compile(r"\b(?:answer|result|total|sum) (?:is|are|was|equals|would be)\b")
_GIVEN = re.compile(r"^(?:it's|it is|there(?:'s| is| are)|that's|here)\b[^?]*\d|\b(?:answer|result|total) is (?!it\b)")
_DONE = r"(?:found|set|sent|put|made|done|bought|paid|built|got|ran|read|wrote|\w{2,}ed)\b(?! to\b)(?! in\b)"
_KNOWN = r"(?:given|mentioned|provided|said|told|asked|specified|already|right|interested|looking)\b"
_CLAIM = re.compile(
    _one_of(rf"""
    (?:i|we)(?:'ve| have)?(?: just| now| successfully| already| also| been able to)* {_DONE}
    you(?: now| currently| still)?(?:'ve| have| are|'re| owe)\b(?! {_KNOWN})
""")
)
_SOFT = re.compile(
    _one_of(r"""
    (?:i|we|you)\b|(?:this|that) (?:will|would|should|way|helps?|information|could|allows?)\b|that'(?:ll|d)\b
    (?:it|that)(?:'s| is| would be| might be| may be) (?:best|better|advisable|recommended|easier)\b
    it (?:could|can|may|might)(?: also)? be\b|it(?:'s| is) (?:not )?(?:clear|needed|required|necessary)\b
    (?:please|kindly|try|consider|feel|let me|let's|once|if|after|with|for (?:that|this|example|instance)|e\.g)\b
    (?:such as|as soon as|when|just|otherwise|instead|perhaps|maybe|not|only|use|check|visit|contact|call|see|ask)\b
    (?:go|look|search|refer|consult)\b
    (?:the )?(?:available |possible |valid |supported |other )?(?:options?|choices|formats|values|examples?)\b
    (?:my|our) (?:capabilit|purpose|tools?|functions?|role|abilit|knowledge|training|programming|main|apolog|available)
    (?:the |these |those )?(?:only )?(?:available |provided |given )?(?:tools?|functions?)\b
""")
)
_NO_FACT = rf"[^\d{QUOTATION}]*"
_REASON = re.compile(
    _NO_FACT
    + r"\b"
    + _one_of("""
    requires?|would (?:need|require|take|be your best)|(?:is|are) (?:needed|required|necessary|enough|sufficient|fine)
    (?:doesn't|does not|didn't|did not) (?:mention|say|include|specify|state|contain)|(?:may|might|could) be able
    will do|there (?:are|is) (?:several|multiple|many|different|more than one)
    (?:is|are) not (?:given|specified|stated|clear)
""")
    + r"\b"
    + _NO_FACT
)

# Other languages.

_FOREIGN_UNABLE = re.compile(
    _one_of(r"""
    no (?:puedo|podemos|soy capaz|me es posible|tengo (?:acceso|la capacidad|ningun))|ninguna? (?:de las )?herramientas?
    je ne (?:peux|suis) pas|je ne dispose|je n'ai (?:pas|aucun)|aucun (?:outil|des outils)|nicht in der lage
    (?:ich kann|kann ich) (?:\w+ ){0,6}(?:nicht|kein\w*)|keines? (?:der|meiner)
    kein\w* (?:passende\w* )?(?:werkzeug|funktion|tool|zugriff)|não (?:posso|consigo|tenho|é possível)
    nenhuma (?:das )?ferramenta|non (?:posso|sono in grado|ho accesso|mi è possibile)|nessuno (?:strumento|degli)
    ik kan (?:\w+ ){0,6}(?:niet|geen)|niet in staat|jag kan (?:\w+ ){0,4}inte|nie (?:mogę|jestem w stanie|mam dostępu)
    (?:saya|kami) (?:tidak|belum) (?:bisa|dapat|mampu|memiliki)|yapamam|erişimim yok|mümkün değil|tôi không (?:thể|có)
    我(?:暂时|目前|现在)?(?:无法|不能|没有|没办法|不具备|不会)|没有(?:合适|可用|相应|任何)?的?(?:工具|函数|功能)|(?:能力|功能)范围
    できません|できかねます|対応していません|ツールはありません|할 수 없|수 없습니다|수가 없
    не (?:могу|умею|можем)|не в состоянии|нет (?:доступа|подходящ|инструмент)|ни один из
    لا (?:أستطيع|يمكنني)|لست قادر|असमर्थ|नहीं कर (?:सकत|पा)
""")
)
_FOREIGN_REQUEST = re.compile(
    _one_of(r"""
    por favor,? (?:indi|propor|espec|dime|díg|dí|conf|inform|forne|diga|me diga)|necesito (?:saber|que|el|la|tu|su)
    veuillez|merci de (?:préciser|m'indiquer)|pourriez-vous|j'ai besoin|ich (?:brauche|benötige)|preciso (?:saber|d)
    bitte (?:geben|nennen|teilen|sagen|gib|nenne|sag|teil)|per favore,? (?:indic|forni|dimmi|specific)|ho bisogno
    mi serve|graag|ik heb (?:\w+ ){0,4}nodig|saya (?:perlu|membutuhkan)|lütfen|vui lòng|xin (?:cho|hãy)|vänligen
    (?:silakan|tolong|mohon) (?:berikan|sebutkan|beri|informasikan|konfirmasi)|proszę (?:podać|podaj|o)
    请(?:您|你)?(?:提供|告诉|告知|说明|指定|确认|问|补充)|(?:需要|想)知道|需要(?:您|你)提供|教えてください|お知らせください
    ご指定ください|알려 ?주|말씀해 ?주|укажите|уточните|сообщите|подскажите|мне нужн|من فضلك|يرجى|कृपया
""")
)
