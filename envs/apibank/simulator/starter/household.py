"""A smart home: scenes with their devices, and devices that switch themselves at a given time."""

from __future__ import annotations

from typing import Any

from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = ["scenes", "switches"]

_SCENES = """
winter morning | kettle: Kettle on the kitchen shelf | radiator: Radiator under the bathroom window
    | reading lamp: Lamp beside the armchair
board game night | ceiling fan: Fan above the round table | record player: Player in the corner
    | string lights: Lights along the bookcase
laundry day | dehumidifier: Machine in the cellar that dries the air | tumble dryer: Dryer below the stairs
gone sailing | garden sprinkler: Sprinkler between the roses | shutters: Shutters of the whole house
    | string lights: Lights along the bookcase
piano practice | radiator: Radiator behind the piano | reading lamp: Lamp on the music stand
baking sunday | bread oven: Oven with the stone floor | cooker hood: Hood above the stove
    | kitchen scales: Scales by the window
heat wave | ceiling fan: Fan above the bed | shutters: Shutters on the sunny side
    | water cooler: Cooler in the hall
guests arrive | doorbell: Bell at the garden gate | porch lamp: Lamp over the front steps
    | record player: Player in the corner
star watching | porch lamp: Lamp over the front steps | shutters: Shutters towards the street
nursery asleep | baby monitor: Monitor on the chest of drawers | night light: Small light shaped like a moon
workshop hours | air compressor: Compressor beneath the bench | dust extractor: Extractor next to the saw
    | radio: Radio with the bent aerial
rainy afternoon | fireplace: Electric fire in the parlour | kettle: Kettle on the kitchen shelf
    | reading lamp: Lamp beside the armchair
"""
"""Name, then device after device with its description, in the order of the devices' names."""

_SWITCHES = """
kettle | 2023-04-03 06:45:00 on | 2023-04-03 07:15:00 off
radiator | 2023-04-01 05:30:00 on
reading lamp | 2023-04-04 20:00:00 on | 2023-04-04 23:30:00 off
ceiling fan | 2023-05-19 14:00:00 on
string lights | 2023-04-08 19:30:00 on
tumble dryer | 2023-04-06 10:00:00 on | 2023-04-06 12:00:00 off
garden sprinkler | 2023-05-02 05:00:00 on | 2023-05-02 05:40:00 off
shutters | 2023-04-15 21:10:00 off
bread oven | 2023-04-09 08:20:00 on
porch lamp | 2023-04-11 18:45:00 on | 2023-04-12 06:00:00 off
night light | 2023-04-02 19:00:00 on
dust extractor | 2023-04-13 16:30:00 off
"""


def scenes() -> dict[str, list[dict[str, str]]]:
    """Scene, in lower case, to the name and description of its devices."""
    return {
        name: [
            {"name": device, "description": description}
            for device, _, description in (entry.partition(": ") for entry in devices)
        ]
        for name, *devices in rows(_SCENES)
    }


def switches() -> dict[str, list[dict[str, Any]]]:
    """Device, in lower case, to when it is switched, and whether on or off."""
    return {
        device: [{"time": time, "on": state == "on"} for time, _, state in (entry.rpartition(" ") for entry in entries)]
        for device, *entries in rows(_SWITCHES)
    }
