"""The house: timed switches and scenes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callgym.envs.apibank.simulator.world import World, normal_time
from callgym.tool_backends.python import ToolFailure

__all__ = ["TOOLS", "normal_devices"]


def timed_switch(world: World, name: str, time: str, on: bool) -> Any:
    device = name.strip().lower()
    if not device:
        raise ToolFailure("Name cannot be empty.")
    when = normal_time(time)
    switches = world.write("TimeSwitch").setdefault(device, [])
    known = next((switch for switch in switches if switch["time"] == when), None)
    if known is None:
        switches.append({"time": when, "on": on})
    else:
        known["on"] = on
    return "success"


def cancel_timed_switch(world: World, name: str, time: str) -> Any:
    device = name.strip().lower()
    if not device:
        raise ToolFailure("name cannot be empty.")
    when = normal_time(time)
    if device not in world.read("TimeSwitch"):
        raise ToolFailure("device name does not exist.")
    if all(switch["time"] != when for switch in world.read("TimeSwitch")[device]):
        raise ToolFailure("time does not exist.")
    switches = world.write("TimeSwitch")[device]
    switches.remove(next(switch for switch in switches if switch["time"] == when))
    return "success"


def add_scene(world: World, name: str, devices: Any) -> Any:
    scene, devices = _scene(name, devices)
    if scene in world.read("Scenes"):
        raise ToolFailure("Scene name already exists.")
    world.write("Scenes")[scene] = devices
    return "success"


def modify_scene(world: World, name: str, devices: Any) -> Any:
    scene, devices = _scene(name, devices)
    if scene not in world.read("Scenes"):
        raise ToolFailure("The scene does not exist.")
    world.write("Scenes")[scene] = devices
    return "success"


def query_scene(world: World, name: str) -> Any:
    found = world.read("Scenes").get(_scene_name(name))
    if found is None:
        raise ToolFailure("Scene not found.")
    return found


def delete_scene(world: World, name: str) -> Any:
    scene = _scene_name(name)
    if scene not in world.read("Scenes"):
        raise ToolFailure("The scene does not exist.")
    del world.write("Scenes")[scene]
    return "success"


def _scene_name(name: str) -> str:
    scene = name.strip().lower()
    if not scene:
        raise ToolFailure("Scene name cannot be empty.")
    return scene


def _scene(name: str, devices: Any) -> tuple[str, list[dict[str, Any]]]:
    """The scene's name and its devices in their normal form, which the given list takes on too: the
    official result shows it as the tool's input."""
    scene = _scene_name(name)
    normal = normal_devices(devices)
    if normal is None:
        raise ToolFailure("Invalid device format.")
    devices[:] = normal
    if len({device["name"] for device in normal}) != len(normal):
        raise ToolFailure("Device name cannot be duplicated.")
    devices.sort(key=lambda device: device["name"])
    return scene, [dict(device) for device in devices]


def normal_devices(devices: Any) -> list[dict[str, Any]] | None:
    """Devices with stripped, lower-case names and stripped descriptions; None where they are no devices."""
    if not isinstance(devices, list):
        return None
    normal = []
    for device in devices:
        if not isinstance(device, dict) or not all(isinstance(device.get(k), str) for k in ("name", "description")):
            return None
        normal.append({**device, "name": device["name"].strip().lower(), "description": device["description"].strip()})
    return normal


TOOLS: dict[str, Callable[..., Any]] = {
    "TimedSwitch": timed_switch,
    "CancelTimedSwitch": cancel_timed_switch,
    "AddScene": add_scene,
    "ModifyScene": modify_scene,
    "QueryScene": query_scene,
    "DeleteScene": delete_scene,
}
