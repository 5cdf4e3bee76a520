"""Users: accounts, tokens, passwords, bank balances."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

from callgym.envs.apibank.simulator.world import World
from callgym.tool_backends.python import ToolFailure

__all__ = ["TOOLS", "owner_of"]

_TOKEN_LETTERS = string.ascii_lowercase + string.digits
_TOKEN_LENGTH = 18
_VERIFICATION_CODE = 970420


def owner_of(world: World, token: str, complaint: str = "The token is invalid.") -> str:
    """The name of the first user with this token; ToolFailure where there is none."""
    for username, account in world.read("Account").items():
        if account["token"] == token:
            return str(username)
    raise ToolFailure(complaint)


def get_user_token(world: World, username: str, password: str) -> Any:
    account = world.read("Account").get(username)
    if account is None:
        raise ToolFailure("The username does not exist.")
    if account["password"] != password:
        raise ToolFailure("The password is incorrect.")
    return {"token": account["token"]}


def check_token(world: World, token: str) -> Any:
    return {"username": owner_of(world, token)}


def register_user(world: World, username: str, password: str, email: str) -> Any:
    if username in world.read("Account"):
        raise ToolFailure("The username already exists.")
    token = world.draw(_TOKEN_LETTERS, _TOKEN_LENGTH)
    world.write("Account")[username] = {"password": password, "token": token, "email": email}
    return {"token": token}


def delete_account(world: World, token: str) -> Any:
    username = owner_of(world, token)
    del world.write("Account")[username]
    return {"status": "success"}


def modify_password(world: World, token: str, old_password: str, new_password: str) -> Any:
    username = owner_of(world, token)
    if world.read("Account")[username]["password"] != old_password:
        raise ToolFailure("The old password is incorrect.")
    world.write("Account")[username]["password"] = new_password
    return {"status": "success"}


def forgot_password(
    world: World,
    status: str,
    username: str | None = None,
    email: str | None = None,
    verification_code: int | None = None,
    new_password: str | None = None,
) -> Any:
    if status == "Forgot Password":
        return _send_code(world, username, email)
    if status == "Verification Code":
        return _reset_password(world, verification_code, new_password)
    raise ToolFailure("The status is only 'Forgot Password' or 'Verification Code'.")


def _send_code(world: World, username: str | None, email: str | None) -> int:
    if username is None or email is None:
        raise ToolFailure("The username and email are required for the first call.")
    account = world.read("Account").get(username)
    if account is None:
        raise ToolFailure("The username does not exist.")
    if account["email"] != email:
        raise ToolFailure("The email is incorrect.")
    world.memory["forgot"] = username
    return _VERIFICATION_CODE


def _reset_password(world: World, verification_code: int | None, new_password: str | None) -> str:
    username = world.memory.get("forgot")
    if username is None:
        raise ToolFailure("You need to call the API with status 'Forgot Password' at first.")
    if verification_code is None or new_password is None:
        raise ToolFailure("The new password and verification code are required for the second call.")
    if verification_code != _VERIFICATION_CODE:
        raise ToolFailure("The verification code is incorrect.")
    if username not in world.read("Account"):
        raise ToolFailure(repr(username) if world.official else "The username does not exist.")
    world.write("Account")[username]["password"] = new_password
    return "success"


def open_bank_account(world: World, account: str, password: str, name: str) -> Any:
    # The official tool has a table of its own, apart from the one that QueryBalance reads, and says
    # "failed" without an exception.
    if any(row["account"] == account for row in world.read("OpenBankAccount").values()):
        return "failed"
    accounts = world.write("OpenBankAccount")
    accounts[str(len(accounts))] = {"account": account, "password": password, "name": name}
    return "success"


def query_balance(world: World, token: str) -> Any:
    owner = world.read("Bank").get(owner_of(world, token, "The token is incorrect."))
    if owner is None:
        raise ToolFailure("The user does not have an account.")
    return owner["balance"]


TOOLS: dict[str, Callable[..., Any]] = {
    "GetUserToken": get_user_token,
    "CheckToken": check_token,
    "RegisterUser": register_user,
    "DeleteAccount": delete_account,
    "ModifyPassword": modify_password,
    "ForgotPassword": forgot_password,
    "OpenBankAccount": open_bank_account,
    "QueryBalance": query_balance,
}
