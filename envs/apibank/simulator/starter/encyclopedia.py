"""What there is to read: encyclopedia articles, pages of a small web, and text files that can be asked about."""

from __future__ import annotations

import re
from typing import Any

from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = ["articles", "questions", "search_index"]

_ARTICLES = """
abacus | A frame with beads on rods, used to add and subtract by hand. | Each rod stands for one place of a number,
    and a skilled user is as fast as a pocket machine.
amber | Hardened resin of ancient trees, often yellow and light enough to drift in salt water. | Insects caught in it
    can be seen in every detail after forty million years.
aurora | Curtains of light in polar skies, lit when particles from the Sun meet the upper air. | Green comes from
    oxygen about a hundred kilometres up, red from higher still.
baobab | A tree of Africa and Madagascar whose swollen trunk stores water. | Old trees are hollow, and people have
    kept shops and post boxes inside them.
beaver | A large rodent that fells trees and dams streams. | The ponds behind its dams slow floods down and give frogs
    a home.
bicycle | A vehicle with two wheels in line, driven by pedals. | The pattern with a chain to the rear wheel dates from
    the eighteen-eighties.
canal | A waterway dug for ships or for watering fields. | Locks lift boats from one level to another like stairs made
    of water.
chess | A board game for two with thirty-two pieces on sixty-four squares. | It came from India by way of Persia, and
    the game ends when a king cannot escape.
compass | An instrument whose needle settles along the magnetic field of the Earth. | Sailors in China and Europe
    steered by it long before anyone knew why it works.
coral reef | A ridge in warm shallow sea, built from the skeletons of tiny animals. | Reefs shelter a quarter of all
    kinds of sea fish.
felt | A cloth made by pressing and rubbing wet wool until the hairs lock. | No thread is spun and no loom is needed,
    which suits herders on the move.
geyser | A hot spring that throws up water and steam from time to time. | It needs heat, much water and a narrow pipe
    of rock below the ground.
glacier | A body of ice that moves slowly under its own weight. | It grinds valleys into the shape of a trough and
    leaves long heaps of stones.
hedgehog | A small mammal covered with spines that rolls up when in danger. | It sleeps through the winter under
    leaves, with a heart that beats only a few times a minute.
honey bee | An insect that lives in colonies of tens of thousands and stores honey. | A dance on the comb tells the
    others how far away the flowers are.
igloo | A dome of snow blocks laid in a spiral, built as a shelter by hunters in the Arctic. | Air trapped in the snow
    keeps the warmth of a lamp and of sleepers inside.
kite | A light frame with cloth or paper that flies on a line in the wind. | Kites have lifted cameras, fishing lines
    and weather instruments.
kiwi bird | A bird from New Zealand that cannot fly and finds worms by smell. | Its egg is huge for its size, a fifth
    of the weight of the hen.
lichen | A partnership of a fungus with algae that lives on stone and bark. | It grows by a millimetre or so a year
    and suffers where the air is dirty.
lighthouse | A tower with a strong lamp that warns ships of rocks and shows the way to port. | Each has its own rhythm
    of flashes, so that a sailor can tell which one it is.
marathon | A road race over 42 kilometres and 195 metres. | The distance was settled when runners in London had to
    finish before the royal box.
monsoon | A wind that turns with the season and brings months of rain. | Farmers of South Asia sow their rice by its
    arrival.
mosaic | A picture put together from small pieces of stone or glass. | Floors of Roman villas show sea animals,
    hunters and unswept crumbs of a banquet.
moss | A small plant without roots or flowers that likes damp shade. | It drinks through its leaves and can wait for
    rain for months when dry.
olive tree | An evergreen of the Mediterranean grown for fruit and oil. | Some trees that are still harvested are more
    than a thousand years old.
origami | The art of folding figures from a sheet of paper without a cut. | Engineers borrow its folds to pack solar
    panels into rockets.
paper | Thin sheets of matted plant fibre, made for writing and wrapping. | Makers in China used bark and rags before
    wood became the usual source.
peat | Brown soil of half-rotted moss that builds up in bogs. | It holds more carbon than all forests, and grows by a
    millimetre a year.
printing press | A machine that presses inked letters onto paper. | Movable metal type made books so cheap that
    reading spread through Europe.
rainbow | An arc of colours seen when the Sun stands behind you and rain in front. | Every drop bends the light twice
    and mirrors it once.
saffron | A red spice from the threads of a crocus flower. | Some hundred and fifty flowers are picked by hand for a
    single gram.
sourdough | A dough raised by wild yeast and bacteria kept alive from batch to batch. | The acids give the bread its
    tang and keep mould away.
steam engine | A machine that turns the push of hot vapour into motion. | It pumped mines dry first, and later drove
    mills, ships and trains.
sundial | A clock that tells the hour by the shadow of a rod. | The rod has to point to the pole of the sky for the
    hours to be even.
telescope | An instrument that gathers light with lenses or mirrors to show distant things. | A mirror twice as wide
    collects four times as much light.
tide | The rise and fall of the sea, caused by the pull of Moon and Sun. | Most coasts have two high waters in a
    little less than twenty-five hours.
violin | A string instrument with four strings played with a bow. | Spruce for the top and maple for the back are the
    usual woods.
volcano | An opening in the crust where melted rock and gas come out. | Ash makes rich soil, which is why people farm
    on the slopes.
windmill | A mill whose sails catch the wind to grind grain or lift water. | Its cap is turned so that the sails face
    the breeze.
yeast | A single-celled fungus that turns sugar into gas and alcohol. | Bakers want the gas, brewers want both.
"""

_PAGES = """
Growing Tomatoes on a Balcony | garden.example.org/tomatoes | Choose a deep pot, water in the morning and pinch out
    the side shoots, and even a small balcony yields tomatoes until autumn.
A First Compost Heap | garden.example.org/compost | Mix wet kitchen scraps with dry leaves, turn the heap every few
    weeks and let worms do the rest.
Planting Bulbs in Autumn | garden.example.org/bulbs | Tulips and crocuses go into the soil before the frost, about
    three times as deep as they are high.
How Heat Pumps Work | energy.example.org/heat-pumps | A heat pump moves warmth from outside air into the house and
    gives back three units of heat for one of electricity.
Solar Panels on Small Roofs | energy.example.org/small-roofs | Facing east and west, panels on a small roof follow the
    use of electricity through the day better than a roof facing south.
Storing Wind Energy | energy.example.org/storage | Batteries, pumped water and hydrogen compete to store wind energy
    for calm weeks.
Beginners Guide to Sourdough Bread | kitchen.example.org/sourdough | Flour, water and patience make a starter in a
    week; the guide explains feeding, proving and baking bread in a pot.
Five Soups for Cold Evenings | kitchen.example.org/soups | Lentils, leeks, beets, squash and barley each become a soup
    that is ready within forty minutes.
Keeping Knives Sharp | kitchen.example.org/knives | A whetstone, a steady angle and ten minutes a month keep kitchen
    knives sharp and safe.
Learning to Read Sheet Music | music.example.org/notes | Begin with rhythm, add five notes, and read sheet music aloud
    before touching an instrument.
Choosing a First Violin | music.example.org/violin | Rent before you buy, measure the arm and try the bow as carefully
    as the violin itself.
Choirs Without Auditions | music.example.org/choirs | Many towns have choirs that take every voice; singing together
    lowers stress after a single evening.
Night Trains Across Europe | travel.example.org/night-trains | New sleeper routes link Vienna, Turin, Prague and
    Zagreb, and save both a flight and a hotel night.
Packing for a Week of Rain | travel.example.org/rain | Wool, a real rain jacket and a dry bag for the phone matter
    more than an umbrella in Bergen.
Island Hopping by Ferry | travel.example.org/ferries | Buy ferry tickets a day ahead, sit on the shady side and leave
    the longest crossing for the morning.
Why Bees Need Weeds | nature.example.org/bees | Dandelions and clover feed bees in weeks when gardens and fields have
    nothing in bloom.
Watching Birds at a Feeder | nature.example.org/birds | Clean the feeder every week, offer seeds of several sizes and
    note which birds come at what hour.
The Return of the Beaver | nature.example.org/beaver | Rivers with a beaver family hold more water in dry summers and
    flood less in spring.
Stretching at the Desk | health.example.net/stretching | Six slow movements for neck, wrists and back loosen what
    hours at a desk have stiffened.
Sleeping Better in Summer | health.example.net/sleep | Cool the room before dusk, eat early and keep the same hour of
    waking to sleep well on warm nights.
Walking Ten Minutes After Meals | health.example.net/walking | A short walk after eating steadies blood sugar more
    than one long walk a day.
Open Source Maps Explained | tech.example.net/maps | Volunteers draw streets and footpaths into open maps that anyone
    may use in an application.
Passwords and Password Managers | tech.example.net/passwords | Long phrases beat odd symbols, and a manager remembers
    a different password for every site.
Robots in the Bakery | tech.example.net/bakery-robots | Robots shape loaves at night in a bakery while people still
    decide when the dough is ready.
Telescopes for Children | sky.example.net/telescopes | A steady tripod and a wide view make a better first telescope
    than high magnification.
Seeing a Meteor Shower | sky.example.net/meteors | Lie down facing away from the Moon, wait twenty minutes for your
    eyes, and meteors will come.
"""

_QUESTIONS = """
library.example.org/heron-report.txt | What was counted? | Grey herons at eleven ponds. | When was the counting done?
    | Every Sunday in March. | How many nests were there? | Thirty-four, six more than a year before.
library.example.org/bridge-repair.txt | Why is the bridge closed? | Two of its bearings have cracked. | How long will
    the work take? | About five months.
library.example.org/bakery-history.txt | Who founded the bakery? | Two sisters who had learned the trade in Turin. |
    What is it known for? | A rye loaf with caraway that keeps for ten days.
library.example.org/robot-manual.txt | How is the arm switched off in an emergency? | By the red lever on the left of
    the base. | How often are the joints greased? | After every two hundred hours of work.
library.example.org/choir-minutes.txt | When does the choir rehearse? | On Wednesdays at seven in the evening. | What
    did the members vote for? | A concert by the harbour in June.
library.example.org/solar-survey.txt | How many roofs were surveyed? | Two hundred and twelve. | How many of them suit
    solar panels? | Sixty in a hundred. | What was the usual obstacle? | Shade from tall lime trees.
library.example.org/ferry-notice.txt | Which ferries do not sail? | Those before six in the morning. | Until when does
    the notice hold? | Until the end of May.
library.example.org/honey-study.txt | Which honey was darkest? | The one from buckwheat. | What did the study find
    about taste? | Tasters preferred honey from mixed meadows.
"""

_WORD = re.compile(r"[a-z0-9]+")


def articles() -> dict[str, dict[str, str]]:
    """Subject, in lower case, to url, summary and content; the content begins with the summary."""
    return {
        subject: {
            "url": f"https://encyclopedia.example.org/{subject.capitalize().replace(' ', '_')}",
            "summary": summary,
            "content": f"{summary} {more}",
        }
        for subject, summary, more in rows(_ARTICLES)
    }


def search_index() -> dict[str, list[Any]]:
    """The pages (title, url, abstract), and the words of title and abstract, in lower case, that a search looks at."""
    pages = [
        {"title": title, "url": f"https://{place}", "abstract": abstract} for title, place, abstract in rows(_PAGES)
    ]
    words = [_WORD.findall(f"{page['title']} {page['abstract']}".lower()) for page in pages]
    return {"raw_documents": pages, "tokenized_documents": words}


def questions() -> dict[str, list[dict[str, str]]]:
    """Address of a text file to what can be asked about it: question and answer."""
    return {
        f"https://{place}": [
            {"question": question, "answer": answer} for question, answer in zip(said[::2], said[1::2], strict=True)
        ]
        for place, *said in rows(_QUESTIONS)
    }
