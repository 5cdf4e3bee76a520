"""CallGym: Gymnasium environments in which language models learn to use tools.

>>> import gymnasium as gym, callgym
>>> env = gym.make("apibank/L1-v0", data="starter")
>>> observation, info = env.reset(seed=0)
"""

from callgym.call import ToolCall, ToolResult
from callgym.checker import check_tool_env
from callgym.dialects import get_dialect
from callgym.episode import Episode, ParseError, Score, Step
from callgym.errors import CallGymError, ConfigurationError, DataError, MissingPackageError
from callgym.goal import Goal, GoldCall
from callgym.message import Message
from callgym.registry import ENVIRONMENTS, register_all
from callgym.spaces import TextSpace
from callgym.task import Task, UserTurn
from callgym.tool import Tool

__version__ = "0.1.0"

__all__ = [
    "ENVIRONMENTS",
    "CallGymError",
    "ConfigurationError",
    "DataError",
    "Episode",
    "Goal",
    "GoldCall",
    "Message",
    "MissingPackageError",
    "ParseError",
    "Score",
    "Step",
    "Task",
    "TextSpace",
    "Tool",
    "ToolCall",
    "ToolResult",
    "UserTurn",
    "check_tool_env",
    "get_dialect",
]

register_all()
