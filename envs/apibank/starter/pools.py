"""The words that the starter tasks' worlds are made of. A hyphen stands for a space within one entry."""

from __future__ import annotations

__all__ = [
    "BOOK_B",
    "CITIES",
    "COLOURS",
    "DISH_A",
    "DISH_B",
    "ERRAND_A",
    "ERRAND_B",
    "FIRST",
    "HOTEL_B",
    "LAMP_B",
    "LAST",
    "MONTHS",
    "NEWS_A",
    "NEWS_B",
    "ROOM_A",
    "ROOM_B",
    "SONG_A",
    "SONG_B",
    "STREET_A",
    "STREET_B",
    "SYLLABLES",
    "TITLE_A",
    "TITLE_B",
]


def _pool(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST = _pool(
    """
    Mira Otto Lena Tariq Nadia Bruno Wanda Felix Greta Hugo Ines Jonas Kira Lars Maja Nils Olga Pavel
    Rosa Sven Tilda Ugo Vera Willem Xenia Yusuf Zora Anton Berta Cosmo Dora Emil Frida Goran Hanna Ivo
    Judit Kamal Leila Milo Nora Orla Petra Quinn Ravi Selma Timo Ulla Viktor Wilma Yara Zeno Alma Boris
    Clara Doro Edda Fabio
    """
)
LAST = _pool(
    """
    Abel Brandt Castell Dahl Ebner Falk Grau Holm Iversen Jansen Keller Lund Moser Nagy Orlov Pohl Quade
    Rask Sauer Toth Unger Vogt Weiss Ybarra Zeller Amsel Birk Corvin Dorn Engel
    """
)
CITIES = _pool(
    """
    Oslo Lisbon Vienna Prague Athens Dublin Riga Tallinn Porto Seville Turin Genoa Lyon Nantes Bergen
    Malmo Gdansk Krakow Zagreb Split Varna Sofia Cork Galway Leeds York Bath Ghent Bruges Utrecht Delft
    Basel Bern Graz Linz Bonn Mainz Kiel Rostock Dresden Leipzig Weimar Turku Tampere Aarhus Odense Nice
    Metz Dijon Trento
    """
)
COLOURS = _pool("amber blue copper green golden grey ivory red silver violet white black coral olive")
SONG_A = _pool(
    """
    Silent Burning Hollow Distant Paper Velvet Winter Midnight Broken Electric Gentle Hidden Lonely Wild
    """
)
SONG_B = _pool(
    """
    River Harbour Lantern Garden Thunder Mirror Orchard Compass Island Sparrow Window Meadow Engine Tide
    """
)
BOOK_B = _pool(
    """
    Clockmaker Voyager Cartographer Beekeeper Lighthouse Gardener Violinist Ferryman Baker Weaver
    """
)
DISH_A = _pool("spicy smoked grilled creamy roasted pickled crispy sweet stuffed baked")
DISH_B = _pool(
    """
    noodles trout pumpkin lentils mushrooms dumplings carrots salmon beans tofu potatoes aubergine
    """
)
ROOM_A = _pool("north south upper lower back front small guest")
ROOM_B = _pool("office kitchen bedroom hall studio attic cellar library bathroom workshop")
LAMP_B = _pool("desk floor wall ceiling porch garden reading corner stair window")
HOTEL_B = _pool("Heron Anchor Crown Fox Lantern Mill Oak Swan Bell Compass Stag Harp")
STREET_A = _pool("Mill Church Station Harbour Castle Garden Bridge Market Forest School Tower Meadow")
STREET_B = _pool("Road Lane Square Street Gate Row Hill Yard")
ERRAND_A = _pool("buy fetch wrap clean sell post order pack sort return")
ERRAND_B = _pool(
    """
    the-candles the-boots two-lemons the-tent the-curtains new-batteries the-skis some-stamps
    """
)
NEWS_A = _pool(
    """
    the-soup the-car the-garden the-piano the-office the-sofa the-boat the-oven the-room the-tent
    """
)
NEWS_B = _pool("ready sold clean broken empty open closed fixed wet late dry finished")
TITLE_A = _pool(
    """
    spring budget travel safety design hiring garden network supply archive summer market
    """
)
TITLE_B = _pool("review kickoff outlook audit workshop briefing update survey report planning")
MONTHS = _pool(
    """
    January February March April May June July August September October November December
    """
)
SYLLABLES = _pool("ba do fi gu ka le mo nu pi ra so tu ve wo zi")
