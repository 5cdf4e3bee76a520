"""Pictures with their captions, and sound recordings with what is said in them. There are no files behind these."""

from __future__ import annotations

from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = ["pictures", "recordings"]

_PICTURES = """
heron-pond.jpg | a heron stands on one leg among the reeds
red-ladder.jpg | a red ladder leans against a white barn
ferry-dawn.jpg | a ferry leaves the harbour under a pink sky
two-cellos.jpeg | two cellos rest on chairs in an empty hall
snowy-mailbox.png | a mailbox with a cap of fresh snow
rye-loaves.jpg | round loaves cool on a wooden rack
goat-wall.jpg | a goat balances on a garden wall
blue-tram.png | a blue tram turns a wet corner
chess-park.jpg | old men bend over a chess board in the park
kite-beach.jpg | children run along a beach with a yellow kite
lantern-boat.jpeg | a rowing boat with a lit lantern at its bow
cat-atlas.jpg | a cat sleeps across an open atlas
glass-furnace.png | a glassblower turns a glowing bubble on a pipe
bee-frame.jpg | hands lift a frame covered with bees
moss-stairs.jpg | stone stairs in a forest, green with moss
market-olives.jpg | bowls of olives at a market stall
violin-window.jpeg | a girl practises the violin by a window
drone-roof.png | a drone hovers above a roof with solar panels
hedgehog-leaf.jpg | a hedgehog peeps out from under a maple leaf
tea-steam.jpg | steam rises from a clay cup of tea
wind-laundry.jpg | shirts blow straight out from a washing line
map-table.png | a map held flat by four stones on a table
bus-twelve.jpg | the driver of bus twelve waves from his seat
origami-crane.jpg | a paper crane on a piano key
foggy-bridge.jpeg | only the tops of the towers show above a bridge in fog
horse-plough.jpg | a horse pulls a plough past a scarecrow
clock-parts.png | wheels of a clock laid out on green felt
rain-umbrellas.jpg | umbrellas of every colour crowd a square
sand-tracks.jpg | tracks of a beetle cross the ripples of a dune
bakery-queue.jpg | people wait outside a bakery before sunrise
ice-fishing.jpeg | a woman fishes through a hole in the ice
orange-tent.png | an orange tent beside a mountain lake
library-ladder.jpg | a librarian on a rolling ladder reaches for a book
puppet-stage.jpg | a wooden puppet bows on a tiny stage
pumpkin-cart.jpg | a cart piled with pumpkins blocks the lane
sleeping-fox.jpeg | a fox curls up in long dry grass
ski-train.png | skis lean beside the door of a mountain train
tulip-bike.jpg | a bicycle with a basket of tulips
night-stairs.jpg | lit windows above a staircase at night
stone-garden.jpg | raked gravel around three dark stones
"""

_RECORDINGS = """
ferry-times | The last ferry leaves at twenty past nine tonight.
lost-scarf | I think my green scarf is still hanging in the waiting room.
soup-order | Two bowls of lentil soup and one piece of rye bread, please.
gate-code | The code of the garden gate has changed to four seven one two.
choir-call | Choir practice starts half an hour later on Wednesday.
bus-detour | Line twelve goes round by the market until Friday.
bee-swarm | A swarm of bees has settled in our pear tree.
water-off | There will be no water between ten and noon tomorrow.
piano-tuner | The piano tuner can come on the third of May.
key-neighbour | I left the spare key with the neighbour on the second floor.
snow-report | Twelve centimetres of new snow fell above the tree line.
parcel-shop | Your parcel is waiting at the flower shop on Mill Lane.
train-platform | The night train to Turin departs from platform four.
dentist-move | Could we move my appointment to the week after Easter?
birthday-cake | Remember to order the cake with hazelnuts for Saturday.
lamp-broken | The lamp in the stairwell has been flickering since Monday.
class-trip | Children should bring boots and a warm sweater for the trip.
cello-strings | I need a new set of cello strings before the concert.
roof-survey | The drone survey was put off because of the wind.
cat-found | We have found a grey cat with a white paw near the harbour.
"""


def pictures() -> list[dict[str, str]]:
    """One url and caption a picture."""
    return [{"url": f"https://pictures.example.org/{file}", "caption": caption} for file, caption in rows(_PICTURES)]


def recordings() -> dict[str, str]:
    """Url of a recording to its words."""
    return {f"https://sound.example.org/{file}.wav": words for file, words in rows(_RECORDINGS)}
