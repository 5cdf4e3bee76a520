"""The kind of a reply without a call: does it ask back, decline, or answer?

    reply_kind("I can't look up trains. Sorry!").kinds                  # ("decline",)
    reply_kind("Which city are you in?").kinds                          # ("ask",)
    reply_kind("I can't do that. It is 5. Which city?").kinds           # ("ask", "decline", "answer")
    names_parameter("Which city are you in?", "city_name")              # True

A reply is read sentence by sentence, and each sentence by rules of our own, in the order of the branches of
``_roles``: a question or a request is *ask*; a sentence in which the speaker or the tools cannot is *decline*;
an apology, a greeting, an offer, advice, a plan is padding that goes with anything; whatever else is stated is
*answer*. A reply that holds several kinds has several, so a text that tries everything is none of them. The
same text is of the same kind in every task, hence no constant reply is right in two kinds of task.

On When2Call's 1,200 reference answers ``best`` (with calls told by a reader of calls) is right for 98.8 %;
tests/test_abstention.py holds the confusion matrix. A policy's own words are further from the rules than these.

Other languages: a question mark of any script asks; a few dozen phrases of inability and request are known in
sixteen languages; any other sentence answers only if it holds a digit or a quotation, or if nothing else is
there. What is not said in words that the rules know is an answer.

Time is linear in the reply's length. A reply of more than ``LONGEST_REPLY`` characters is an answer unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from callgym.tool import Tool

__all__ = ["LONGEST_REPLY", "Kind", "ReplyKind", "asked_nouns", "asked_parameters", "names_parameter", "reply_kind"]

Kind = Literal["ask", "decline", "answer"]

LONGEST_REPLY = 8_000
"""Characters; nobody asks back or declines at more length."""


class ReplyKind(NamedTuple):
    """What a reply without a call does."""

    kinds: tuple[Kind, ...]
    """All kinds that it carries marks of, in the order ask, decline, answer; empty for silence."""
    best: Kind | None
    """The one a reader would name if there may be but one; None for silence."""


def reply_kind(text: str) -> ReplyKind:
    """The kinds of a reply; see the module's docstring. Never raises."""
    if len(text) > LONGEST_REPLY:
        return ReplyKind(("answer",), "answer")
    roles = {role for sentence in _sentences(text) for role in sentence.roles}
    if not roles:
        return ReplyKind((), None)
    if "ask" in roles:
        roles.discard("unless")
    declines, states = bool(roles & {"decline", "unless"}), "state" in roles
    asks = "ask" in roles or ("offer" in roles and not (declines or states or "soft" in roles))
    answers = states or not (asks or declines)
    found: list[tuple[Kind, bool]] = [("ask", asks), ("decline", declines), ("answer", answers)]
    kinds = tuple(kind for kind, there in found if there)
    return ReplyKind(kinds, "decline" if declines else kinds[0])


# Sentences and what each does.

_Role = Literal["ask", "decline", "unless", "offer", "state", "soft", "padding"]
"""``unless``: unable for want of something, which is a question where one follows. ``soft``: what goes with an
ask or a decline (advice, a plan, the choices there are) and answers only where nothing else does."""


class _Sentence(NamedTuple):
    text: str
    """In lower case, without markup; a quotation is one character."""
    roles: frozenset[_Role]
    quoted: tuple[str, ...]
    """The quotations, in order."""


_QUOTED = "\ufffc"
_STRAIGHT = str.maketrans(
    {**dict.fromkeys("’‘‛`´", "'"), **dict.fromkeys("“”„«»「」『』＂", '"'), _QUOTED: " ", "\r": "\n"}
)
# A block of code (its backticks are quotes by now), a quotation, an address.
_QUOTATION = re.compile(r"'''.*?(?:'''|\Z)|\"[^\"\n]*\"|(?<!\w)'[^'\n]{1,200}'(?!\w)|https?://\S+", re.DOTALL)
# No sentence ends after one letter ("U.S. Bank", "e.g. one") or a title.
_BOUNDARY = re.compile(
    r"(?<![\s.(][a-z]\.)(?<!\bdr\.)(?<!\bmr\.)(?<!\bms\.)(?<!\bst\.)(?<!mrs\.)(?<!\bvs\.)"
    r"(?<=[.!?…])[\"')\]*_]*\s+|(?<=[。！？؟;])\s*|\n+\s*"
)
_BREAK = re.compile(
    r"\s*[;—–]\s*|\s-\s|,?\s(?:but|however|although|though|yet)\s,?"
)
_SPLICE = re.compile(r",\s(?=(?:it|here|there)(?:'s|\sis|\sare)\b|the\s(?:answer|result|total|value)\b)")
_PREFACE = re.compile(
    r"(?:in order )?(?:to|for|in|since|as|because|at|on|with|if|when|based on|once|before|after|without)\b[^,]{1,160},\s"
    r"(?=(?:i|we|you|please|use|check|visit|contact|call|see|ask|try|go)\b)"
)
_MARKUP = re.compile(r"^[\s*_#>•·\-+\"'(]+|[\s*_\"')]+$")
_QUESTION = tuple("?？؟\u037e՞፧")
_BULLET = "•"
_ITEM = re.compile(r"^[ \t]*(?:[-*•·+]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_NO_WORDS = re.compile(r"[^\w\ufffc]*")


def _sentences(text: str) -> list[_Sentence]:
    plain = text.translate(_STRAIGHT).strip().lower()
    if len(plain) > 2 and plain[0] == plain[-1] == '"' and plain.count('"') == 2:
        plain = plain[1:-1]  # a reply in quotes is a reply
    quotations = iter(_QUOTATION.findall(plain))
    plain = _QUOTATION.sub(lambda match: f"\n{_QUOTED}\n" if match[0].startswith("'''") else _QUOTED, plain)
    pieces = [piece for piece in _BOUNDARY.split(_ITEM.sub(_BULLET, plain)) if _MARKUP.sub("", piece)]
    if len(pieces) > 1:
        pieces = [piece for piece in pieces if not _NO_WORDS.fullmatch(piece)]
    english = _leans(plain) >= 0
    sentences: list[_Sentence] = []
    listing = False  # "I need two things:" is followed by them
    for piece in pieces:
        text = _MARKUP.sub("", piece)
        listed = listing and piece.startswith(_BULLET)
        roles: frozenset[_Role] = frozenset(("ask",) if listed else _roles(text, english))
        quoted = tuple(next(quotations, "") for _ in range(text.count(_QUOTED)))
        sentences.append(_Sentence(text, roles, quoted))
        listing = listed or ("ask" in roles and text.endswith((":", "：")))
    return sentences


def _words(*choices: str) -> str:
    return "(?:" + "|".join(choices) + ")"


_LEAD = re.compile(
    r"(?:"
    + _words(
        *("sure(?: thing)?", "of course", "certainly", "absolutely", "okay", "ok", "al ?right", "all right", "great"),
        *("perfect", "yes", "yeah", "yep", "no problem", "hello(?: there)?", "hi(?: there)?", "hey", "thanks", "thank you"),
        *("(?:so |very )?sorry", "(?:my |sincere )*apologies", "(?:i|we) (?:do )?(?:sincerely )?apologi[sz]e"),
        *("(?:i'm|i am|we're|we are) (?:so |very |truly |really |terribly )?(?:sorry|afraid)", "i regret", "unfortunately"),
        *("regrettably", "sadly", "and", "also", "so", "then", "well", "ah", "oh", "hmm", "um", "actually", "honestly"),
        *("please note", "note", "understood", "got it", "noted", "assistant", "currently", "at the moment", "right now"),
        *("as of now", "but", "however", "i see(?=[,.!])", "i understand(?=[,.!])", "good (?:morning|afternoon|evening)"),
        *(r"as an? [\w -]{1,60}?(?=,)", "in that case", "to be honest", "that said", "first", "finally"),
    )
    + r"(?![\w'])[\s,.!:…*-]*(?:(?:that|to say(?: that)?|to inform you(?: that)?)\s)?)+"
)
_COURTESY = re.compile(
    r"(?:for|about|to hear)\b[^,]*|(?:great|good|nice|excellent|lovely) (?:choice|question|idea|plan|news)|(?:that|this|it) (?:sounds?|looks?)\b.*"
    r"|(?:that|this)(?:'s| is) (?:(?:an?|very|really|so) )*"
    + _words("great", "good", "nice", "wonderful", "helpful", "fine", "lovely", "exciting", "fantastic", "interesting")
    + r"\b.*|(?:i|we)(?:'d| would|'ll| will|'m| am| can| could)?(?: be)?(?: \w+){0,2}? (?:help|assist)\b[^\d]*"
    r"|(?:happy|glad|here|love) to [^\d]*|one (?:moment|second).*|(?:let me know|feel free|don't hesitate)\b.*"
    r"|(?:good luck|enjoy|safe travels|have an?|best of luck|take care|best regards|sincerely)\b.*|"
)
_SORRY = re.compile(r"(?:so |very |my )?(?:sorry|apolog)|(?:i'm|i am) (?:so |very )?sorry")
_GREETING = re.compile(
    r"\b(?:how|what(?: else)?) (?:else )?(?:can|may|could) (?:i|we) (?:\w+ )?(?:help|assist|do)\b|\b(?:any|some)thing else\b"
    r"|\bother questions?\b|^how are you\b"
)
_OFFER = re.compile(
    r"(?:would you (?:also |still )?like (?:me to|to|more|any|some|those|these|that|this|an?|another|further|help)"
    r"|do you (?:want|need) (?:me to|more|any|further|help|to (?:\w+ )?(?:more|proceed|continue))|(?:shall|should) (?:i|we) (?:proceed|go ahead|continue)"
    r"|shall (?:i|we)|want me to|(?:can|may|could) i (?:help|assist|suggest|offer|interest)|(?:is|does|would|will) "
    r"(?:that|this|it) (?:ok|okay|help|work|sound|do|be (?:ok|okay|fine|helpful))|what do you think|sounds? good)\b"
)
_SUGGESTION = re.compile(r"(?:how about|why not|why don't you)\b")

_TELLING = _words(
    *("provide", "specify", "tell", "share", "confirm", "clarify", "let (?:me|us) know(?! if)", "give", "indicate", "supply"),
    *("state", "send", "name", "choose", "pick", "describe", "elaborate", "mention", "enter", "reply", "respond", "type"),
)
_REQUEST = re.compile(
    rf"\b(?:could|can|would|will|may|might) (?:you|i)(?: \w+){{0,2}}? (?:{_TELLING}|know|ask|remind|select)\b"
    rf"|\b(?:please|kindly)(?: also| just| first)? {_TELLING}\b"
    r"|^(?:tell me|give me|specify|clarify|let (?:me|us) know (?!if))\b"
)
_NEED = re.compile(
    r"\b(?:i|we)(?:'ll|'d| will| would| do)?(?: still| also| just| first| only| really| then)?"
    r" (?:need|require|have to know|must know|want to know|'?m missing|am missing)\b"
    r"(?! to (?!know|confirm|clarify|verify|have|be sure|make sure|understand|check|identify|get|ask|see)\b)"
    r"|\b(?:is|are|was|were) (?:still )?missing\b|\bmissing (?:the|your|an?)\b|\bbefore i can\b"
    r"|\b(?:as soon as|once|when|after|if) you(?:'ve| have)? (?:tell|told|give|given|provide|share|confirm|specify|let me know)\b"
    r"|\byou (?:didn't|did not|haven't|have not|don't|never|forgot)(?: \w+){0,2}? (?:to )?"
    r"(?:say|said|mention|specif|provid|tell|told|give|given|state|include|indicate)"
    r"|\b(?:i|we)(?:'m| am)? (?:don't know|do not know|not sure|unsure|can't tell|cannot tell|wonder|was wondering)"
    r"(?= your\b|.*\b(?:which|what|when|where|who|how|if|whether)\b)"
    r"|\b(?:i|we) (?:didn't|did not) (?:quite )?(?:understand|catch|get)\b"
    r"|\b(?:unclear|ambiguous|not clear)\b"
)
_INTERROGATIVE = re.compile(
    r"(?:(?:in|on|at|for|from|to|by|with) )?(?:which|what|when|where|who|whom|whose|how)\b"
    r"|(?:do|does|did|is|are|was|were|should|shall|would|could|can|will|have|has) (?:you|it|this|that|the|there|i|we)\b"
)

_SIDE = _words(
    *("am", "are", "was", "were", "do", "just", "also", "still", "currently", "really", "simply", "actually", "sadly"),
    *("unfortunately", "personally", "therefore", "honestly", "however", "regrettably", "presently", "myself", "quite"),
    *("directly", "physically", "completely", "now", "truly", "afraid", "sorry", "only", "at the moment", "right now"),
)
_UNABLE = _words(
    *("can't(?! wait)", "cannot(?! wait)", "can not", "cant", "couldn't", "could not", "unable", "not able", "incapable"),
    *("not (?:capable|equipped|designed|authori[sz]ed|permitted|allowed|built|set up|in a position)", "won't", "will not"),
    *("lack", "(?:don't|do not) (?:currently |actually |really )?(?:have|support|offer|possess|provide|know|do|handle)"),
    *("have (?:no|neither)", "haven't got", "didn't find", "did not find", "(?:limited|restricted) to"),
    *("(?:can|able to) only (?:help|assist|answer|provide|offer|support|handle|do|work)", "(?:decline|refuse)"),
    *("(?:must|have to|need to) (?:decline|refuse|pass)", "not (?:the right|something)"),
)
_TOOL = r"(?:tool|function|functionalit(?:y|ie)|api|capabilit(?:y|ie)|feature|plugin|service i have)s?"
_DECLINE = re.compile(
    rf"\b(?:i|we)(?:'m|'re|'ve)?(?:,? {_SIDE},?){{0,3}} {_UNABLE}\b"
    rf"|^{_words('can(?:no|.)?t', 'can not', 'could not', 'unable', 'not able', 'not possible', 'impossible', 'no can do')}\b"
    r"|^no[.!]?$|\bi don't think i can\b|\bi doubt i can\b"
    rf"|\b(?:none|neither|not one|not any) of (?:\w+ ){{0,4}}{_TOOL}\b|\b(?:no|without an?)(?: \w+){{0,3}} {_TOOL}\b"
    rf"|(?:^|\b(?:the|my|our|these|those|this|that|any|of) (?:\w+ ){{0,3}}){_TOOL}(?: [\w'-]+){{0,9}}? (?:can't|cannot|don't|doesn't|do not|does not|aren't|isn't|not|only|lacks?)\b"
    rf"|\b(?:isn't|aren't|is not|are not|not|never) (?:\w+ ){{0,2}}{_TOOL}\b"
    r"|\b(?:beyond|outside|exceeds?|out of|not within|not part of)(?: of)? (?:my|our|the scope|what (?:i|my)|scope)\b"
    r"|\b(?:that|this|it)(?:'s| is| was) (?:\w+ )?(?:not possible|impossible|unsupported|not supported)\b"
    r"|\b(?:isn't|aren't|is not|are not|not) (?:currently )?(?:supported|possible (?:for me|with)|available to me)\b"
    r"|n(?:o|')t something (?:that )?(?:i|we)\b|^(?:i|we)\b[^;]*?\b(?:and|but|so) (?:cannot|can't|am unable|am not able)\b|\b(?:and|or|nor) (?:don't|do not) have (?:the|any|real)\b|\bnone of (?:them|these|those)\b"
    r"|\b(?:request|task|that|this|it|question)(?: \w+){0,2}? (?:cannot|can't|can not|could not) be\b"
)
_UNLESS = re.compile(
    r"\b(?:without|until|unless|before|enough|sufficient|which|what|when|where|who|whether|if)\b|\bhave your\b"
    r"|\b(?:tell|find|identify|determine|be sure|proceed|continue|go ahead)\b"
)
_STATEMENT = re.compile(r"\b(?:answer|result|total|sum) (?:is|are|was|equals|would be)\b")
_GIVEN = re.compile(r"^(?:it's|it is|there(?:'s| is| are)|that's|here)\b[^?]*\d|\b(?:answer|result|total) is (?!it\b)")
_CLAIM = re.compile(
    r"(?:i|we)(?:'ve| have)?(?: just| now| successfully| already| also| been able to)* "
    r"(?:found|set|sent|put|made|done|bought|paid|built|got|ran|read|wrote|\w{2,}ed)\b(?! to\b)(?! in\b)"
    r"|you(?: now| currently| still)?(?:'ve| have| are|'re| owe)\b"
    r"(?! (?:given|mentioned|provided|said|told|asked|specified|already|right|interested|looking)\b)"
)
_SOFT = re.compile(
    r"(?:i|we)\b|i'|we'|you\b|you'|(?:this|that) (?:will|would|should|way|helps?|information|could|allows?)\b|that'(?:ll|d)\b"
    r"|(?:it|that)(?:'s| is| would be| might be| may be) (?:best|better|advisable|recommended|easier)\b"
    r"|it (?:could|can|may|might)(?: also)? be\b|(?:please|kindly|try|consider|feel|let me|let's|once|if|after|with"
    r"|for (?:that|this|example|instance)|e\.g|such as|as soon as|when|just|otherwise|instead|perhaps|maybe"
    r"|not|only|use|check|visit|contact|call|see|ask|go|look|search|refer|consult)\b"
    r"|(?:the )?(?:available |possible |valid |supported |other )?(?:options?|choices|formats|values|examples?)\b|it(?:'s| is) (?:not )?(?:clear|needed|required|necessary)\b"
    r"|(?:my|our) (?:capabilit|purpose|tools?|functions?|role|abilit|knowledge|training|programming|main|apolog|available)"
    r"|(?:the |these |those )?(?:only )?(?:available |provided |given )?(?:tools?|functions?)\b"
)
_REASON = re.compile(
    r"[^\d\ufffc]*\b(?:requires?|would (?:need|require|take|be your best)|(?:is|are) (?:needed|required|necessary|enough|sufficient|fine)"
    r"|(?:doesn't|does not|didn't|did not) (?:mention|say|include|specify|state|contain)|will do|(?:may|might|could) be able"
    r"|there (?:are|is) (?:several|multiple|many|different|more than one)|(?:is|are) not (?:given|specified|stated|clear))\b[^\d\ufffc]*"
)

_FOREIGN_DECLINE = re.compile(
    r"no puedo|no podemos|no soy capaz|no me es posible|no tengo (?:acceso|la capacidad|ningun)|ninguna? de las herramientas"
    r"|ninguna herramienta|je ne (?:peux|suis) pas|je ne dispose|je n'ai (?:pas|aucun)|aucun (?:outil|des outils)"
    r"|ich kann (?:\w+ ){0,6}(?:nicht|kein\w*)|kann ich (?:\w+ ){0,6}(?:nicht|kein\w*)|nicht in der lage|keines? (?:der|meiner)"
    r"|kein\w* (?:passende\w* )?(?:werkzeug|funktion|tool|zugriff)|não (?:posso|consigo|tenho|é possível)"
    r"|nenhuma (?:das )?ferramenta|non (?:posso|sono in grado|ho accesso|mi è possibile)|nessuno (?:strumento|degli)"
    r"|ik kan (?:\w+ ){0,6}(?:niet|geen)|niet in staat|saya (?:tidak|belum) (?:bisa|dapat|mampu|memiliki)|kami tidak (?:bisa|dapat)"
    r"|我(?:暂时|目前|现在)?(?:无法|不能|没有|没办法|不具备|不会)|没有(?:合适|可用|相应|任何)?的?(?:工具|函数|功能)|(?:能力|功能)范围"
    r"|できません|できかねます|対応していません|ツールはありません|할 수 없|수 없습니다|수가 없|не (?:могу|умею|можем)|не в состоянии"
    r"|нет (?:доступа|подходящ|инструмент)|ни один из|لا (?:أستطيع|يمكنني)|لست قادر|असमर्थ|नहीं कर (?:सकत|पा)|yapamam|erişimim yok"
    r"|mümkün değil|tôi không (?:thể|có)|nie (?:mogę|jestem w stanie|mam dostępu)|jag kan (?:\w+ ){0,4}inte"
)
_FOREIGN_ASK = re.compile(
    r"por favor,? (?:indi|propor|espec|dime|díg|dí|conf|inform|forne|diga|me diga)|necesito (?:saber|que|el|la|tu|su)|veuillez"
    r"|merci de (?:préciser|m'indiquer)|pourriez-vous|j'ai besoin|bitte (?:geben|nennen|teilen|sagen|gib|nenne|sag|teil)"
    r"|ich (?:brauche|benötige)|preciso (?:saber|d)|per favore,? (?:indic|forni|dimmi|specific)|ho bisogno|mi serve"
    r"|graag|ik heb (?:\w+ ){0,4}nodig|(?:silakan|tolong|mohon) (?:berikan|sebutkan|beri|informasikan|konfirmasi)"
    r"|saya (?:perlu|membutuhkan)|请(?:您|你)?(?:提供|告诉|告知|说明|指定|确认|问|补充)|(?:需要|想)知道|需要(?:您|你)提供|教えてください"
    r"|お知らせください|ご指定ください|알려 ?주|말씀해 ?주|укажите|уточните|сообщите|подскажите|мне нужн|من فضلك|يرجى|कृपया"
    r"|lütfen|vui lòng|xin (?:cho|hãy)|proszę (?:podać|podaj|o)|vänligen"
)
_ENGLISH = frozenset(
    "the is are was were an to of and in for i you it that this your my with on at can be do does has have not no there "
    "here by from will would which what how its it's i'm as or so if they he she we his her their more than all about "
    "please but been could should may might these those up out just".split()
)
_FOREIGN = frozenset(
    "el los las de del que para una un por es en le les des du est et pour vous je der das und ist ich sie den ein eine "
    "für o os um uma em não il di della che per sono het een ik u yang ini itu untuk saya anda kami dan dengan jag och det "
    "att ve bir için tôi bạn nie jest się".split()
)
_LATIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")


def _roles(sentence: str, english: bool) -> set[_Role]:
    """What a sentence does; ``english`` says what the reply is, where the sentence does not show it."""
    asks = sentence.rstrip(" \"')]*_!" + _QUOTED).endswith(_QUESTION)
    foreign = _foreign_marks(sentence, asks)
    leaning = _leans(sentence)
    if foreign - {"ask"} or leaning < 0 or not (leaning or english):
        told = any(character.isdigit() or character == _QUOTED for character in sentence)
        return foreign or ({"state"} if told else {"soft"})
    roles: set[_Role] = {"state"} if (_GIVEN if asks else _STATEMENT).search(sentence) else set()
    broken = _BREAK.split(sentence if asks else _SPLICE.sub("; ", sentence))
    clauses = [clause for clause in broken if clause.strip(" ,.!")]
    for number, clause in enumerate(clauses):
        question = asks and (number == len(clauses) - 1 or bool(_INTERROGATIVE.match(clause.strip())))
        roles |= _clause_roles(clause.strip(" ,"), question)
    return roles or {"padding"}


def _clause_roles(clause: str, question: bool) -> set[_Role]:
    lead = _LEAD.match(clause)
    rest = clause[lead.end() :] if lead else clause
    if question and _GREETING.search(rest):
        return {"padding"}
    if question and _OFFER.match(rest):
        return {"offer"}
    if question and _SUGGESTION.match(rest):
        return {"state"}
    unable = _DECLINE.search(rest)
    roles: set[_Role] = set()
    if unable:
        rest_of_it = rest.find(",", unable.end())
        roles.add("unless" if _UNLESS.search(rest[:rest_of_it] if rest_of_it >= 0 else rest) else "decline")
    if question or _REQUEST.search(rest) or _NEED.search(rest):
        roles.add("ask")
    if roles:
        return roles
    rest = _PREFACE.sub("", rest.rstrip(" .!,:…"), count=1)
    if _COURTESY.fullmatch(rest) or _COURTESY.fullmatch(clause.rstrip(" .!")) or (lead and _SORRY.match(clause) and rest.isalpha()):  # "Apologies, Emily."
        return {"padding"}
    if _SOFT.match(rest) and not _CLAIM.match(rest):
        return {"soft"}
    return {"soft"} if _REASON.fullmatch(rest) else {"state"}


def _foreign_marks(sentence: str, asks: bool) -> set[_Role]:
    marks: set[_Role] = {"ask"} if asks or _FOREIGN_ASK.search(sentence) else set()
    return marks | {"decline"} if _FOREIGN_DECLINE.search(sentence) else marks


def _leans(text: str) -> int:
    """Above 0 where the rules for English apply, below where not, 0 where the words of grammar do not tell."""
    words = _LATIN_WORD.findall(text)
    foreign = sum(word in _FOREIGN or not word.isascii() for word in words)
    return sum(word.partition("'")[0] in _ENGLISH for word in words) - foreign



# What is asked for.


def names_parameter(text: str, parameter: str, description: str = "", values: Iterable[object] = ()) -> bool:
    """Whether a question back names a parameter.

    It does with the parameter's name as it is written, with the words of the name or the last of them, with the
    noun that the description begins with ("The city where ..."), or with two of the values that can be chosen.
    Words are compared without plural endings, and a few dozen of them as what they stand for: "how many" is a
    number, "where" a place, "keyword" a query. The words are English; in other languages only a name or a value
    that is quoted as it is counts.

    Args:
        text: The reply; what stands in its questions and requests is looked at, or all of it where it has none.
        parameter: The parameter's name.
        description: What its schema says of it.
        values: What its schema lists as allowed.
    """
    asked = _asked_text(text)
    if parameter.lower() in set(_IDENTIFIER.findall(asked)):
        return True
    heard = _heard(asked)
    if _is_named(_parts(parameter, _meant), heard) or any(head in heard for head in _heads(description)):
        return True
    listed = {str(value).lower().replace("_", " ") for value in values if isinstance(value, str) and value}
    plain = f" {' '.join(_WORD.findall(asked))} "
    return sum(f" {' '.join(_WORD.findall(value))} " in plain for value in listed) > 1


def asked_parameters(text: str, tool: Tool) -> tuple[str, ...]:
    """The parameters of a tool that a question back asks for in so many words: no synonyms, no descriptions.

    The last word of a name is enough where no other parameter ends with it.
    """
    asked = _asked_text(text)
    written = set(_IDENTIFIER.findall(asked))
    heard = {_folded(word) for word in _WORD.findall(asked)}
    names = {name: [part for part in _parts(name, _folded) if part not in _STOP] for name in tool.properties}
    last = [parts[-1] for parts in names.values() if parts]

    def is_asked(name: str) -> bool:
        parts = names[name]
        if name.lower() in written or (parts and heard.issuperset(parts)):
            return True
        return bool(parts) and parts[-1] in heard - _VAGUE and last.count(parts[-1]) == 1

    return tuple(filter(is_asked, names))


def asked_nouns(text: str) -> frozenset[str]:
    """The nouns among what a question back asks for that would fit the parameters of any tool: date, name, city, ...

    A question that holds many of them asks for everything.
    """
    return frozenset(map(_folded, _WORD.findall(_asked_text(text)))) & _NOUNS


_IDENTIFIER = re.compile(r"\w+")
_WORD = re.compile(r"[^\W_]+")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\da-zA-Z_]+")
_STOP = frozenset("the a an of is are has have in on for with and or by at new my your their its to from".split())
_SHORT = {
    **{"loc": "location", "num": "number", "qty": "quantity", "addr": "address", "lat": "latitude", "lon": "longitude"},
    **{"lng": "longitude", "temp": "temperature", "dest": "destination", "dept": "department", "amt": "amount"},
    **{"pwd": "password", "passwd": "password", "msg": "message", "img": "image", "lang": "language", "tel": "phone"},
    **{"dob": "birthday", "desc": "description", "max": "maximum", "min": "minimum", "avg": "average", "ref": "reference"},
}
_MEANT = {
    word: group.split()[0]
    for group in (
        *("place location city town area destination address venue", "number count amount quantity", "price cost budget"),
        *("time hour", "date day", "id identifier uuid identification", "query keyword search term phrase", "type kind sort"),
        *("phone telephone mobile", "email mail", "song track", "movie film", "artist singer band", "company customer client"),
        *("person people participant guest adult passenger traveler traveller attendee", "text content body wording"),
        *("from origin departure depart departing starting", "to arrival arriving", "duration length"),
    )
    for word in group.split()
}
_WONDERED = (
    (re.compile(r"\bhow (?:many|much)\b"), ("number", "price")),
    (re.compile(r"\bhow long\b"), ("duration", "time")),
    (re.compile(r"(?:^|[.!?,;]\s|\band\s)(?:\w+ )?where\b"), ("place",)),
    (re.compile(r"(?:^|[.!?,;]\s|\band\s)when\b"), ("date", "time")),
    (re.compile(r"(?:^|[.!?,;]\s|\band\s)(?:to |for |with )?whom?\b"), ("person", "name")),
)
"""A question word and what it asks for. Elsewhere in a sentence "where" and "when" ask nothing."""
_VAGUE = frozenset(
    "name number list value string text code info information data detail array object dictionary param parameter "
    "option field input flag boolean indicator maximum minimum".split()
)
"""Nouns that name a parameter only with what they belong to: not "name" but "name of the theatre"."""
_CLAUSE = frozenset(
    "for in to from on at by with where which that who whose being be is are as if when such into within than used using "
    "located specified given formatted listed represented indicating associated submitted selected required requested "
    "needed containing including whether has".split()
)
_NOUNS = frozenset(
    "date time day month year city country state region address location place name number id identifier amount type "
    "category kind genre email phone title quantity price budget unit currency language code account password username "
    "size color colour format mode status duration reason purpose topic level version model brand destination origin age "
    "gender recipient sender".split()
)


def _asked_text(text: str) -> str:
    """The questions and requests of a reply, and the choices that it gives after them."""
    found: list[str] = []
    sentences = _sentences(text[:LONGEST_REPLY])
    asks = any("ask" in sentence.roles for sentence in sentences)
    for sentence in sentences:
        if "ask" in sentence.roles or (not asks and "offer" in sentence.roles) or (found and "soft" in sentence.roles):
            quoted = iter(sentence.quoted)
            found.append("".join(next(quoted, "") if c == _QUOTED else c for c in sentence.text))
    return "\n".join(found) or text[:LONGEST_REPLY].lower()


def _folded(word: str) -> str:
    """A word in lower case, in the singular, written out."""
    word = word.lower()
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") else word[:-2] if word.endswith(_ES) else word[:-1]
    return _SHORT.get(word, word)


_ES = ("sses", "xes", "ches", "shes", "zes")


def _meant(word: str) -> str:
    folded = _folded(word)
    return _MEANT.get(folded, folded)


def _heard(asked: str) -> set[str]:
    words = {_meant(word) for word in _WORD.findall(asked) if word not in _STOP}
    return words.union(*(things for pattern, things in _WONDERED if pattern.search(asked)))


def _parts(parameter: str, as_word: Callable[[str], str]) -> list[str]:
    return [as_word(part) for part in _NAME_WORD.findall(parameter)]


def _is_named(parts: Sequence[str], heard: Collection[str]) -> bool:
    if "of" in parts[1:]:  # number_of_guests
        cut = parts.index("of", 1)
        parts = [*parts[cut + 1 :], *parts[:cut]]
    words = [part for part in parts if part not in _STOP] or list(parts)
    if not words:
        return False
    if all(word in heard for word in words):
        return True
    if words[-1] in _VAGUE:
        return len(words) > 1 and all(word in heard for word in words[:-1])
    return words[-1] in heard


def _heads(description: str) -> list[str]:
    """The nouns that a description begins with: of "The name of the city or town where it is", city and town."""
    heads: list[str] = []
    last = ""
    for word in _WORD.findall(_FIRST_CLAUSE.match(description[:_LONGEST_HEAD].lower())[0]):  # type: ignore[index]
        if word in ("the", "a", "an", "your"):
            if last:
                break
        elif word in ("or", "and"):
            heads.append(last)
            last = ""
        elif word == "of":
            if _meant(last) not in _VAGUE:
                break
            last = ""
        elif word in _CLAUSE:
            break
        else:
            last = word
    return [head for head in map(_meant, [*heads, last]) if head and head not in _VAGUE]


_FIRST_CLAUSE = re.compile(r"[^.,;:(]*")
_LONGEST_HEAD = 400
