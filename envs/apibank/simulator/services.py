"""Services that look something up, send or book: mail, music, hotels, stocks, history, media, knowledge."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from callgym.envs.apibank.simulator.calculator import calculator
from callgym.envs.apibank.simulator.search_engine import best_documents
from callgym.envs.apibank.simulator.world import DATE, World, moment, normal_date
from callgym.tool_backends.python import ToolFailure

__all__ = ["TODAY", "TOOLS", "history_date"]

TODAY = "2023-03-31"
"""What GetToday always answers."""
# The official pattern, which takes lower case only and two characters or more before the @.
_ADDRESS = re.compile(r"^[a-z0-9]+[\._]?[a-z0-9]+[@]\w+[.]\w{2,3}$")
_MAX_ADDRESS = 320


def book_hotel(
    world: World,
    hotel_name: str,
    check_in_time: str,
    check_out_time: str,
    room_count: int,
    adult_count: int,
    child_count: int,
) -> Any:
    arrival, departure = moment(check_in_time, DATE), moment(check_out_time, DATE)
    if adult_count > 2 and room_count == 1:
        raise ToolFailure("The number of adults is greater than 2. Two rooms are ordered.")
    for order in world.read("Hotel").values():
        if order["hotel_name"] != hotel_name:
            continue
        start, end = moment(order["check_in_time"], DATE), moment(order["check_out_time"], DATE)
        inside = start <= arrival < end or start < departure <= end
        around = not world.official and arrival <= start and end <= departure
        if inside or around:
            raise ToolFailure("The room is not available.")
    orders = world.write("Hotel")
    key = str(len(orders) + 1)
    orders[key] = {
        "hotel_name": hotel_name,
        "check_in_time": check_in_time,
        "check_out_time": check_out_time,
        "room_count": room_count,
        "adult_count": adult_count,
        "child_count": child_count,
    }
    return key


def query_stock(world: World, stock_code: str, date: str) -> Any:
    code = stock_code.upper().strip()
    if not code:
        raise ToolFailure("The stock code cannot be empty.")
    day = normal_date(date)
    prices = world.read("Stock").get(code)
    if prices is None:
        raise ToolFailure("The stock code does not exist.")
    if day not in prices:
        raise ToolFailure("The stock price of this date is not maintained.")
    return prices[day]


def history_date(text: str) -> str:
    """``MM-DD`` of a date with or without its year."""
    stripped = text.strip()
    if stripped.count("-") == 2:
        return normal_date(stripped)[5:]
    return _day_of_the_year(stripped)


def _day_of_the_year(text: str) -> str:
    """A bare month and day. Python reads them as of 1900, which has no 29 February; it is about to stop doing so,
    so the year is written out here, and its complaint put in the official words."""
    try:
        return moment(f"1900-{text}", DATE).strftime("%m-%d")
    except ToolFailure as failure:
        if "does not match" not in str(failure):
            raise
        raise ToolFailure(f"time data {text!r} does not match format '%m-%d'") from None


def query_history_today(world: World, date: str) -> Any:
    events = world.read("History").get(history_date(date))
    if events is None:
        raise ToolFailure("The date is not in the database.")
    return [f"Title: {e['Title']}, Date: {e['Date']}, Description: {e['Description']}".strip() for e in events]


def send_email(world: World, receiver: str, subject: str, content: str) -> Any:
    address = receiver.strip()
    if len(address) > _MAX_ADDRESS or not _ADDRESS.match(address):
        raise ToolFailure("Email address of the receiver is invalid.")
    if not subject.strip():
        raise ToolFailure("Subject cannot be empty.")
    if not content.strip():
        raise ToolFailure("Content cannot be empty.")
    return "success"


def play_music(world: World, music_name: str) -> Any:
    name = music_name.strip().lower()
    if not name:
        raise ToolFailure("The music name cannot be empty.")
    return f"music://{name}"


def speech_recognition(world: World, url: str) -> Any:
    address = url.strip()
    if not address.endswith(".wav"):
        raise ToolFailure("The url should end with .wav.")
    text = world.read("SpeechRecognition").get(address)
    if text is None:
        raise ToolFailure("The audio of this url failed to be processed.")
    return text


def image_caption(world: World, url: str) -> Any:
    address = url.strip()
    if not address.endswith((".jpg", ".jpeg", ".png")):
        raise ToolFailure("The url should end with .jpg, .jpeg or .png.")
    # Indexed by the tables' loader: the official file is a list of 13,000 pictures.
    caption = world.read("ImageCaptioning").get(address)
    if caption is None:
        raise ToolFailure("The image of this url failed to be processed.")
    return caption


def document_qa(world: World, url: str, question: str) -> Any:
    asked = question.strip()
    if not asked:
        raise ToolFailure("The question is empty.")
    known = world.read("QuestionAnswering").get(url.strip())
    if known is None:
        raise ToolFailure("The document of this url failed to be processed.")
    if not world.official:  # the official look-up does not fit the shape of its table
        for pair in known:
            if pair["question"].strip().lower() == asked.lower():
                return pair["answer"]
    return "The question is too difficult to answer."


def _keyword(text: str) -> str:
    return text.replace("_", " ").strip().lower()


def wiki(world: World, keyword: str) -> Any:
    article = world.read("Wiki").get(_keyword(keyword))
    if article is None:
        raise ToolFailure("Keyword not found.")
    return {"url": article["url"], "summary": article["summary"]}


def dictionary(world: World, keyword: str) -> Any:
    meanings = world.read("Dictionary").get(_keyword(keyword))
    if meanings is None:
        raise ToolFailure("Failed.")
    return meanings


def translate(world: World, src: str, src_lang: str | None = None, tgt_lang: str | None = None) -> Any:
    if src_lang is not None:
        _language(world, src_lang)
    target = "en" if tgt_lang is None else _language(world, tgt_lang)
    for known in world.read("Translate"):
        if known["src"] == src and known["dest"] == target:
            return known["text"]
    missing = "no recorded translation"
    raise ToolFailure(f"stub: {missing}" if world.official else f"The service has {missing} of this text.")


def _language(world: World, name: str) -> str:
    wanted = name.lower()
    if "chinese" in wanted:
        return "zh-tw" if "traditional" in wanted else "zh-cn"
    for code, language in world.read("languages").items():
        if code == wanted or language in wanted:
            return str(code)
    raise ToolFailure("Language not supported.")


def search_engine(world: World, keyword: str) -> Any:
    return best_documents(world.read("SearchEngine"), keyword)


def get_today(world: World) -> Any:
    return TODAY


def tool_searcher(world: World, keywords: str) -> Any:
    return world.search(keywords)


TOOLS: dict[str, Callable[..., Any]] = {
    "BookHotel": book_hotel,
    "QueryStock": query_stock,
    "QueryHistoryToday": query_history_today,
    "SendEmail": send_email,
    "PlayMusic": play_music,
    "SpeechRecognition": speech_recognition,
    "ImageCaption": image_caption,
    "DocumentQA": document_qa,
    "Wiki": wiki,
    "Dictionary": dictionary,
    "Translate": translate,
    "SearchEngine": search_engine,
    "Calculator": calculator,
    "GetToday": get_today,
    "ToolSearcher": tool_searcher,
}
