"""What happened on which day of the year: well-known events, told in our own words."""

from __future__ import annotations

from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = ["history"]

_EVENTS = """
1610-01-07 | Moons beside Jupiter | In Padua, Galileo noticed faint points next to Jupiter that turned out to be its
    moons.
1801-01-01 | Ceres found | From Palermo, Giuseppe Piazzi spotted Ceres, which was taken for a planet for decades.
2002-01-01 | Euro cash | Twelve countries began to pay with euro notes and coins.
1863-01-10 | Trains below London | Steam trains carried the first paying passengers through tunnels under London.
2005-01-14 | A landing on Titan | The European probe Huygens floated down by parachute to the ground of Titan.
2006-01-19 | New Horizons leaves | A small spacecraft set off on its journey of nine and a half years to Pluto.
1848-01-24 | Gold at a sawmill | Flakes seen in a Californian millrace brought on the gold rush.
1924-01-25 | Winter games in Chamonix | Athletes gathered below Mont Blanc for what later counted as the first Winter
    Olympics.
1966-02-03 | Luna 9 sets down | An uncrewed Soviet probe came to rest softly on the Moon and sent pictures home.
1809-02-12 | Charles Darwin is born | The naturalist came into the world in Shrewsbury, as the fifth of six children.
1990-02-14 | Earth as a dot | Looking back from six billion kilometres, Voyager 1 photographed our planet as a pale
    speck.
1564-02-15 | Galileo is born | A musician in Pisa became the father of a boy who would change astronomy.
1930-02-18 | Pluto found | Clyde Tombaugh compared two photographic plates in Arizona and saw a dot that had moved.
1473-02-19 | Copernicus is born | In Torun, a merchant family had a son who would put the Sun in the middle.
1962-02-20 | Three times round the Earth | John Glenn circled the globe in a capsule hardly larger than himself.
1986-02-20 | Mir goes up | The core of a space station that grew for ten years reached its orbit.
1935-02-28 | Nylon | The chemist Wallace Carothers and his group drew a new fibre out of a beaker.
1872-03-01 | Yellowstone protected | A law set the land of the geysers aside as a park for everybody.
1890-03-04 | Forth Bridge opens | Trains crossed the wide estuary near Edinburgh on red steel cantilevers.
1876-03-10 | Words over a wire | Alexander Graham Bell called his assistant in the next room through the telephone.
1781-03-13 | Uranus found | William Herschel, in his garden in Bath, took a new planet for a comet at first.
1926-03-16 | A rocket in a field | Robert Goddard flew a liquid-fuelled rocket for two and a half seconds on a farm.
1965-03-18 | A walk in space | Alexei Leonov floated outside his ship for twelve minutes on a tether.
1995-03-22 | Back after 437 days | Valeri Polyakov landed after the longest single stay in orbit that anyone had made.
2001-03-23 | The end of Mir | After fifteen years aloft the old station was steered down into the South Pacific.
1655-03-25 | Titan found | Christiaan Huygens saw the largest moon of Saturn through a telescope that he had built.
1974-03-29 | Clay soldiers | Farmers digging a well near Xian struck the buried army of the first emperor.
1889-03-31 | Eiffel Tower finished | Gustave Eiffel climbed to the top on foot and hoisted a flag.
1966-03-31 | Luna 10 sets out | The probe lifted off that would become the first to circle the Moon.
1973-04-03 | A telephone in the street | Martin Cooper rang a rival from a pavement in New York with a phone held in
    the hand.
1896-04-06 | Games in Athens | The Olympics were held once more, in a stadium of white marble.
1961-04-12 | A human in orbit | Yuri Gagarin went once around the Earth in one hundred and eight minutes.
1981-04-12 | A shuttle flies | Columbia rose on its maiden voyage with two people aboard.
1452-04-15 | Leonardo is born | Near the Tuscan town of Vinci, the painter and engineer was born.
1970-04-22 | Earth Day | Millions in the United States turned out for clean air and water.
2005-04-23 | An elephant clip | Nineteen seconds at a zoo became the first film on a new video site.
1990-04-24 | Hubble goes up | A shuttle carried the space telescope above the blur of the air.
1953-04-25 | The double helix | A one-page article by Watson and Crick proposed the shape of DNA.
1956-04-26 | Boxes on a ship | A converted tanker left Newark with fifty-eight freight containers on deck.
1993-04-30 | The web for all | CERN gave the software of the World Wide Web away for free.
1840-05-01 | The Penny Black | Britain issued a black stamp with which the sender could pay for a letter.
1954-05-06 | A mile in under four minutes | Roger Bannister ran it on a windy evening in Oxford.
1980-05-08 | Smallpox is gone | The World Health Assembly stated that nobody on Earth had the disease any more.
1869-05-10 | A golden spike | In Utah, rails from the east met rails from the west.
1796-05-14 | Jenner vaccinates | An English doctor scratched cowpox into the arm of a boy of eight.
1875-05-20 | The Metre Convention | Seventeen states agreed in Paris on common measures.
1927-05-21 | Alone to Paris | Charles Lindbergh landed after more than thirty-three hours over the Atlantic.
1844-05-24 | A telegraph line opens | Samuel Morse tapped a sentence from Washington to Baltimore.
1937-05-27 | Golden Gate on foot | For one day the new bridge belonged to people walking and skating.
1919-05-29 | Starlight bends | Photographs of an eclipse agreed with what Einstein had predicted.
1953-05-29 | Top of Everest | Tenzing Norgay and Edmund Hillary stood on the highest summit.
1859-05-31 | A clock for Westminster | The great clock of the British parliament started to keep time.
1783-06-04 | A balloon at Annonay | The Montgolfier brothers let an empty balloon of cloth and paper rise before a
    crowd.
1637-06-08 | Descartes on method | A book printed in Leiden held the words: I think, therefore I am.
1963-06-16 | Tereshkova flies | Valentina Tereshkova began three days in orbit, the first woman there.
1983-06-18 | Sally Ride flies | A physicist of thirty-two became the first American woman in space.
1868-06-23 | A typewriter patent | Christopher Sholes and two partners protected a machine that printed letter by
    letter.
1974-06-26 | A bar code beeps | A shop in Ohio scanned a pack of chewing gum.
1908-06-30 | The Tunguska blast | Something from space exploded over Siberia and laid the forest flat.
1858-07-01 | Evolution is read out | Papers by Darwin and Wallace were presented to a society in London.
1054-07-04 | A guest star | Astronomers in China recorded the exploding star that left the Crab Nebula.
1687-07-05 | The Principia | Newton published the laws by which apples fall and planets turn.
1996-07-05 | Dolly is born | A lamb copied from one cell of a grown sheep came into the world in Scotland.
1799-07-15 | The Rosetta Stone | Soldiers repairing a fort found one text in three scripts.
1969-07-20 | People on the Moon | Armstrong and Aldrin set down in the Sea of Tranquillity.
1976-07-20 | Viking on Mars | A lander sent a picture of its own foot on red soil.
1911-07-24 | Machu Picchu | A local farmer led Hiram Bingham up to the overgrown Inca city.
1846-08-10 | The Smithsonian | An English chemist's gift led to a museum and research institution in Washington.
1914-08-15 | Panama Canal opens | A cargo steamer passed from ocean to ocean in half a day.
1877-08-18 | Phobos found | Asaph Hall discovered the inner moon of Mars a few nights after the outer one.
0079-08-24 | Vesuvius erupts | By the traditional date, ash buried Pompeii and Herculaneum.
1989-08-25 | Past Neptune | Voyager 2 flew over the clouds of the outermost planet.
1977-09-05 | Voyager 1 leaves | The craft that would go farthest of all was launched with a golden record.
2008-09-10 | Protons in a ring | A beam went all the way round the large collider near Geneva.
1940-09-12 | Lascaux | Four youths in France crawled into a cave full of painted animals.
1991-09-19 | A man in the ice | Hikers in the Alps came upon a body more than five thousand years old.
1846-09-23 | Neptune found | Johann Galle looked where Le Verrier had calculated, and there it was.
1825-09-27 | Stockton to Darlington | A public railway in England ran its opening train with a steam engine.
1928-09-28 | Penicillin | Alexander Fleming saw a mould that kept bacteria away.
1908-10-01 | The Model T | Ford put a car on sale that would become affordable for many.
1582-10-04 | A leap in the calendar | In Italy and Spain, this Thursday was followed by Friday the fifteenth.
1957-10-04 | Sputnik | A beeping metal ball became the first artificial moon.
1947-10-14 | Faster than sound | Chuck Yeager broke the sound barrier with two cracked ribs.
1879-10-21 | A lamp that lasts | Edison tested a carbon filament that glowed for many hours.
1886-10-28 | Statue of Liberty | The copper figure in New York harbour was dedicated in the rain.
1969-10-29 | Two letters on a network | A message between two Californian computers broke off after L and O.
1512-11-01 | The Sistine ceiling | Visitors in Rome could see the frescoes of Michelangelo.
2000-11-02 | At home in orbit | Three people moved into the International Space Station.
1922-11-04 | A step in the sand | Workers of Howard Carter uncovered the stairs to the tomb of Tutankhamun.
1895-11-08 | A strange glow | Wilhelm Roentgen noticed rays that pass through paper and flesh.
1989-11-09 | The Berlin Wall opens | Crowds walked through the border crossings during the night.
2014-11-12 | Down on a comet | The little lander Philae bounced and came to rest in a shadow.
1970-11-17 | A rover on the Moon | Lunokhod 1 rolled down its ramp, driven from the Earth.
1783-11-21 | People in a balloon | Two Frenchmen drifted over Paris for some twenty-five minutes.
1859-11-24 | On the Origin of Species | Darwin's book was published, and the booksellers took every copy.
1992-12-03 | A text message | An engineer wished a colleague a merry Christmas from computer to phone.
1901-12-10 | Nobel Prizes | The first ones were handed over in Stockholm and in the capital of Norway.
1911-12-14 | At the South Pole | Roald Amundsen and four companions planted a flag there.
1903-12-17 | Twelve seconds of flight | Orville Wright flew a distance shorter than a modern airliner is long.
1968-12-21 | To the Moon and back | Apollo 8 left with the first crew to see the far side.
1947-12-23 | The transistor | Engineers at Bell Labs showed an amplifier without a glowing tube.
1758-12-25 | The comet keeps its date | A farmer in Saxony saw the return that Halley had foretold.
"""


def history() -> dict[str, list[dict[str, str]]]:
    """Day of the year (``MM-DD``) to its events, the oldest first: Title, Date (``YYYY-MM-DD``), Description."""
    found: dict[str, list[dict[str, str]]] = {}
    for date, title, description in sorted(rows(_EVENTS), key=lambda event: (event[0][5:], event[0])):
        found.setdefault(date[5:], []).append({"Title": title, "Date": date, "Description": description})
    return found
