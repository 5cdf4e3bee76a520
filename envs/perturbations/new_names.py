"""New names: neutral ones (``tool_7f3``, ``arg_2``), or synonyms (``find_train`` becomes ``locate_railway``).

A new name follows from the salt and the old name, and differs from those that are taken. A synonym keeps the style
of the name it stands for, CamelCase, dots or low lines; a name of which no word is known keeps its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from itertools import count

from callgym.envs.perturbations.words import listed, words_in

__all__ = ["in_style_of", "parameter_names", "tool_name"]

_SHORT_ATTEMPTS = 64
_SYNONYMS = {
    word: tuple(choices.split(","))
    for word, choices in (
        pair.split("=")
        for pair in listed(
            """
            account=profile,ledger add=append,include address=location,place alarm=wake_up_call,alert
            amount=sum,quantity area=surface,extent balance=funds,holdings book=arrange,secure
            calculate=compute,derive calendar=planner,diary cancel=revoke,call_off change=alter,amend
            check=verify,inspect city=town,municipality code=identifier,key content=body,wording
            convert=transform,translate count=tally,number create=make,establish currency=money,tender
            date=day,calendar_day days=number_of_days,span_days delete=erase,remove departure=start,leaving
            description=details,summary destination=target,arrival_place distance=separation,span
            duration=length,time_span email=mail_address,electronic_mail end=finish,close event=occasion,entry
            file=document,record find=locate,seek flight=air_trip,plane_trip folder=directory,container
            forecast=outlook,prediction get=fetch,obtain guests=visitors,party_size height=elevation,tallness
            hotel=lodging,inn id=identifier,reference info=details,facts item=article,thing keyword=search_term,term
            language=tongue,idiom length=extent,span limit=maximum,cap list=enumerate,show location=place,position
            lookup=consult,trace mean=average,midpoint meeting=appointment,conference message=note,communication
            modify=adjust,amend month=calendar_month move=shift,transfer music=audio,tune name=label,title
            nights=number_of_nights number=count,figure open=start,launch order=request,purchase
            origin=source,starting_place password=passphrase,secret path=route,location person=individual,human
            phone=telephone,handset place=put,set_down plan=schedule,design play=start,perform post=publish,submit
            price=cost,charge query=question,request rate=ratio,tariff read=view,scan record=log,write_down
            register=enrol,sign_up remove=drop,discard rent=hire,lease reserve=secure,hold restaurant=eatery,diner
            result=outcome,finding room=chamber,space route=course,way save=store,keep schedule=arrange,plan
            search=look_for,seek send=dispatch,deliver set=assign,put show=display,present size=extent,dimension
            song=tune,track sort=rank,order start=begin,open status=state,condition stock=share,equity
            table=desk,grid temperature=warmth,heat text=wording,passage ticket=case,pass time=moment,clock_time
            title=heading,caption token=access_key,pass track=follow,trace train=rail_service,railway
            translate=render,interpret unit=measure,scale update=refresh,revise url=web_address,link
            user=member,client username=login_name,handle value=figure,amount volume=loudness,capacity
            weather=climate,meteorology weight=mass,heaviness width=breadth,wideness year=calendar_year,annum
            """
        )
    )
}


def tool_name(name: str, style: str, salt: str, taken: Collection[str]) -> str:
    """Another name for a tool; its own where no synonym is known."""
    if style == "synonyms":
        return _synonym(name, salt, taken) or name
    for attempt in count():
        digits = _digest(f"{salt}/{name}/{attempt}").hex()
        new = f"tool_{digits[:3]}" if attempt < _SHORT_ATTEMPTS else f"tool_{digits}"
        if new not in taken:
            return new
    raise AssertionError("there is always another digest")


def parameter_names(
    parameters: Sequence[str], style: str, salt: str, known: Mapping[str, str], taken: Collection[str]
) -> dict[str, str]:
    """Other names for some parameters of one tool.

    Args:
        parameters: The parameters.
        style: ``neutral`` or ``synonyms``.
        salt: What the names follow from.
        known: Names that other parameters of the tool have already; they are in the result, too.
        taken: Names that none may have.
    """
    names = dict(known)
    numbered = (f"arg_{number}" for number in count(1))
    for parameter in sorted(parameters, key=lambda name: _digest(f"{salt}/{name}")):
        unfit = {*names.values(), *taken}
        if style == "synonyms":
            names[parameter] = _synonym(parameter, salt, unfit) or parameter
        else:
            names[parameter] = next(new for new in numbered if new not in unfit)
    return names


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _synonym(name: str, salt: str, taken: Collection[str]) -> str | None:
    """The name with other words; None where no word is known, or what comes of it is taken."""
    words = words_in(name)
    if not any(word in _SYNONYMS for word in words):
        return None
    for attempt in range(8):
        digest = _digest(f"{salt}/{name}/{attempt}")
        chosen: list[str] = []
        for place, word in enumerate(words):
            choices = _SYNONYMS.get(word, (word,))
            chosen += choices[digest[place % len(digest)] % len(choices)].split("_")
        new = in_style_of(name, chosen)
        if new not in taken and new != name:
            return new
    return None


def in_style_of(name: str, words: Collection[str]) -> str:
    """Words as a name in the style of another: CamelCase, mixedCase, dotted, or with low lines."""
    words = list(words)
    if "." in name and len(words) > 1:
        depth = name.count(".")
        return ".".join([*words[:depth], "_".join(words[depth:])]) if len(words) > depth else "_".join(words)
    if "_" not in name and name[:1].isupper():
        return "".join([word.capitalize() for word in words])
    if "_" not in name and any(character.isupper() for character in name):
        return words[0] + "".join([word.capitalize() for word in words[1:]])
    return "_".join(words)
