"""What a dictionary and a translator answer in place of the web services that API-Bank's tools ask."""

from __future__ import annotations

from typing import Any

from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = ["languages", "meanings", "translations"]

_WORDS = """
amble | verb | To walk at an easy pace. | stroll, saunter | hurry
ardent | adjective | Full of strong feeling. ; Burning like fire. | passionate, fervent | cool
bask | verb | To lie in pleasant warmth. ; To enjoy praise or attention. | lounge |
beacon | noun | A light or fire set up as a signal. ; Someone who gives guidance. | lighthouse, signal |
brisk | adjective | Quick and lively. ; Cool in a refreshing way. | lively, fresh | sluggish
candid | adjective | Saying openly what one thinks. | frank, open | guarded
chisel | noun | A tool with a sharp end for shaping wood or stone. |  |
chisel | verb | To cut with such a tool. | carve |
cluster | noun | A small group of things close together. | bunch, clump |
coax | verb | To persuade by gentle urging. | wheedle | force
dawdle | verb | To move or work more slowly than needed. | linger, loiter | hasten
deft | adjective | Skilful with the hands. | nimble, adroit | clumsy
drizzle | noun | Light rain in very small drops. | mist | downpour
drizzle | verb | To rain lightly. ; To pour in a thin stream. | trickle |
eager | adjective | Wanting very much to do or have something. | keen | reluctant
ember | noun | A glowing bit of coal or wood in a dying fire. | cinder |
feeble | adjective | Lacking strength. | weak, frail | strong
flourish | verb | To grow or do well. ; To wave about for show. | thrive | wither
forage | verb | To go about looking for food. | rummage |
frugal | adjective | Careful not to spend or waste. | thrifty | lavish
glimpse | noun | A brief or partial view. | peek | stare
hamlet | noun | A settlement smaller than a village. |  |
harbour | noun | Sheltered water where ships can lie. | haven, port |
hasty | adjective | Done too quickly. | rash | careful
jovial | adjective | Cheerful and friendly. | merry, jolly | gloomy
kindle | verb | To set alight. ; To arouse a feeling. | ignite | extinguish
lofty | adjective | Very high. ; Noble in aim. | towering | low
meander | verb | To wind this way and that, as a river does. | wander, wind |
mellow | adjective | Soft and ripe in taste, sound or colour. | smooth | harsh
nimble | adjective | Moving with light quick steps. | agile | clumsy
orchard | noun | A piece of land planted with fruit trees. |  |
ponder | verb | To think about carefully. | consider, muse |
quaint | adjective | Charming in an old-fashioned way. | picturesque |
quench | verb | To put an end to thirst. ; To put out a fire. | slake |
rugged | adjective | Rocky and uneven. ; Strong enough for hard use. | rough, sturdy | smooth
serene | adjective | Calm and untroubled. | peaceful | agitated
shrewd | adjective | Quick to judge people and chances well. | astute | naive
sparse | adjective | Thinly spread. | scanty | dense
swift | adjective | Fast. | rapid, fleet | slow
swift | noun | A bird with curved wings that feeds and even sleeps in flight. |  |
tangle | noun | A confused mass of threads or hair. | knot |
thrifty | adjective | Using money and things with care. | frugal | wasteful
vivid | adjective | Bright and strong. ; Easy to picture. | lively | dull
whisper | verb | To speak with breath and no voice. | murmur | shout
whisper | noun | A very quiet way of speaking. |  | shout
yearn | verb | To long for. | pine, crave |
zest | noun | Keen enjoyment. ; The outer peel of a lemon or orange. | gusto | apathy
"""

_PHRASES = """
Good morning | de Guten Morgen | fr Bonjour | es Buenos días
Good evening | de Guten Abend | fr Bonsoir | it Buonasera
Good night | de Gute Nacht | fr Bonne nuit | es Buenas noches
Thank you very much | de Vielen Dank | fr Merci beaucoup | es Muchas gracias
See you tomorrow | de Bis morgen | fr À demain | es Hasta mañana
Have a good trip | de Gute Reise | fr Bon voyage | it Buon viaggio
Enjoy your meal | de Guten Appetit | fr Bon appétit | es Buen provecho
Happy birthday | de Alles Gute zum Geburtstag | fr Joyeux anniversaire | es Feliz cumpleaños
Good luck | de Viel Glück | fr Bonne chance | es Buena suerte
Welcome | de Willkommen | fr Bienvenue | es Bienvenido
I am tired | de Ich bin müde | fr Je suis fatigué | it Sono stanco
I am hungry | de Ich habe Hunger | fr J'ai faim | es Tengo hambre
I do not understand | de Ich verstehe nicht | fr Je ne comprends pas | es No entiendo
Where is the station? | de Wo ist der Bahnhof? | fr Où est la gare ? | es ¿Dónde está la estación?
What time is it? | de Wie spät ist es? | fr Quelle heure est-il ? | it Che ora è?
How much does it cost? | de Wie viel kostet das? | fr Combien ça coûte ? | es ¿Cuánto cuesta?
The train is late | de Der Zug hat Verspätung | fr Le train est en retard | it Il treno è in ritardo
The soup is hot | de Die Suppe ist heiß | fr La soupe est chaude | es La sopa está caliente
It is raining | de Es regnet | fr Il pleut | es Está lloviendo
The window is open | de Das Fenster ist offen | fr La fenêtre est ouverte | it La finestra è aperta
Two tickets, please | de Zwei Karten, bitte | fr Deux billets, s'il vous plaît | it Due biglietti, per favore
A glass of water | de Ein Glas Wasser | fr Un verre d'eau | es Un vaso de agua
Bread and butter | de Brot und Butter | fr Du pain et du beurre | nl Brood en boter
My name is Ilse | de Mein Name ist Ilse | fr Je m'appelle Ilse | es Me llamo Ilse
The cat is sleeping | de Die Katze schläft | fr Le chat dort | es El gato duerme
We need help | de Wir brauchen Hilfe | fr Nous avons besoin d'aide | es Necesitamos ayuda
The door is closed | de Die Tür ist zu | fr La porte est fermée | it La porta è chiusa
I like music | de Ich mag Musik | fr J'aime la musique | es Me gusta la música
The sea is calm | de Das Meer ist ruhig | fr La mer est calme | it Il mare è calmo
Turn left here | de Hier links abbiegen | fr Tournez à gauche ici | es Gire a la izquierda aquí
Tea or coffee? | de Tee oder Kaffee? | fr Thé ou café ? | nl Thee of koffie?
See you on Monday | de Bis Montag | fr À lundi | es Hasta el lunes
The book is new | de Das Buch ist neu | fr Le livre est neuf | es El libro es nuevo
It is too late | de Es ist zu spät | fr Il est trop tard | es Es demasiado tarde
Get well soon | de Gute Besserung | fr Bon rétablissement | nl Beterschap
Three red apples | de Drei rote Äpfel | fr Trois pommes rouges | es Tres manzanas rojas
The shop opens at nine | de Der Laden öffnet um neun | fr Le magasin ouvre à neuf heures | es La tienda abre a las
    nueve
I live in Oslo | de Ich wohne in Oslo | fr J'habite à Oslo | es Vivo en Oslo
The moon is bright | de Der Mond ist hell | fr La lune brille | it La luna è luminosa
Please speak slowly | de Bitte sprechen Sie langsam | fr Parlez lentement, s'il vous plaît | es Por favor, hable
    despacio
"""

_LANGUAGES = """
ar arabic | bg bulgarian | bn bengali | ca catalan | cs czech | cy welsh | da danish | de german | el greek
en english | eo esperanto | es spanish | et estonian | eu basque | fa persian | fi finnish | fr french | ga irish
gl galician | he hebrew | hi hindi | hr croatian | hu hungarian | hy armenian | id indonesian | is icelandic
it italian | ja japanese | ka georgian | ko korean | la latin | lt lithuanian | lv latvian | mk macedonian
ms malay | mt maltese | nl dutch | no norwegian | pl polish | pt portuguese | ro romanian | ru russian
sk slovak | sl slovenian | sq albanian | sr serbian | sv swedish | sw swahili | th thai | tl filipino
tr turkish | uk ukrainian | ur urdu | vi vietnamese | zh-cn chinese (simplified) | zh-tw chinese (traditional)
"""


def _several(text: str, mark: str) -> list[str]:
    return [part.strip() for part in text.split(mark)] if text else []


def meanings() -> dict[str, list[dict[str, Any]]]:
    """Word to its meanings, one entry a part of speech."""
    found: dict[str, list[dict[str, Any]]] = {}
    for word, part_of_speech, definitions, synonyms, antonyms in rows(_WORDS):
        found.setdefault(word, []).append(
            {
                "partOfSpeech": part_of_speech,
                "definitions": [
                    {"definition": definition, "synonyms": [], "antonyms": []}
                    for definition in _several(definitions, ";")
                ],
                "synonyms": _several(synonyms, ","),
                "antonyms": _several(antonyms, ","),
            }
        )
    return found


def translations() -> list[dict[str, str]]:
    """English phrases (src) in other languages (dest: the code, text)."""
    return [
        {"src": phrase, "dest": code, "text": text}
        for phrase, *others in rows(_PHRASES)
        for code, _, text in (other.partition(" ") for other in others)
    ]


def languages() -> dict[str, str]:
    """Language code to English name, in lower case."""
    return {code: name for row in rows(_LANGUAGES) for code, _, name in (field.partition(" ") for field in row)}
