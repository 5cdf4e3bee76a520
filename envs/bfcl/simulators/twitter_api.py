"""TwitterAPI: one user's account, and all tweets.

Behaviour and texts follow ``bfcl-eval`` 2026.3.23, faults included: comments that the scenario brings have texts as
keys and are never found by their tweet's number. All tweets that are posted without mentions share one list of
them, so that ``mention`` on one adds to all; officially that list belongs to the process, here to the instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.simulators.base import Simulator, Tables
from callgym.envs.bfcl.simulators.refusing import refusing
from callgym.envs.bfcl.simulators.storage import Storage
from callgym.json_value import copy_trusted

__all__ = ["TwitterAPI"]

_NONE_GIVEN: list[str] = []
"""The default of lists of tags and mentions, told apart from a given one by being this very object."""


@refusing
class TwitterAPI(Simulator):
    """The simulator."""

    compared = (
        "username",
        "password",
        "authenticated",
        "tweets",
        "comments",
        "retweets",
        "following_list",
        "tweet_counter",
    )

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        state = {**tables.constants["default_state"]["TwitterAPI"], **config}
        self._storage = Storage()
        self._no_mentions: list[str] = []
        self._without_mentions = 0
        self.username: str = state["username"]
        self.password: str = state["password"]
        self.authenticated: bool = state["authenticated"]
        self.tweets: dict[int, dict[str, Any]] = {int(key): copy_trusted(t) for key, t in state["tweets"].items()}
        self.comments: dict[Any, list[dict[str, str]]] = copy_trusted(state["comments"])
        self.retweets: dict[str, list[int]] = copy_trusted(state["retweets"])
        self.following_list: list[str] = copy_trusted(state["following_list"])
        self.tweet_counter: int = state["tweet_counter"]

    # The account.

    def authenticate_twitter(self, username: str, password: str) -> dict[str, Any]:
        """Log in with the account's own name and password."""
        matches = username == self.username and password == self.password
        self.authenticated = True if matches else self.authenticated
        return {"authentication_status": matches}

    def posting_get_login_status(self) -> dict[str, Any]:
        """Whether the user is logged in."""
        return {"login_status": bool(self.authenticated)}

    def follow_user(self, username_to_follow: str) -> dict[str, Any]:
        """Follow a user; false where that is so already."""
        if not self.authenticated:
            return _refused("following")
        if username_to_follow in self.following_list:
            return {"follow_status": False}
        self._storage.take(username_to_follow)
        self.following_list.append(username_to_follow)
        return {"follow_status": True}

    def list_all_following(self) -> dict[str, Any]:
        """The users that are followed."""
        if not self.authenticated:
            return _refused("listing following")
        return {"following_list": self.following_list}

    def unfollow_user(self, username_to_unfollow: str) -> dict[str, Any]:
        """Follow a user no longer; false where that is so already."""
        if not self.authenticated:
            return _refused("unfollowing")
        if username_to_unfollow not in self.following_list:
            return {"unfollow_status": False}
        self.following_list.remove(username_to_unfollow)
        return {"unfollow_status": True}

    # Writing.

    def post_tweet(
        self, content: str, tags: list[str] = _NONE_GIVEN, mentions: list[str] = _NONE_GIVEN
    ) -> dict[str, Any]:
        """Post a tweet."""
        if not self.authenticated:
            return _refused("posting")
        tags = [] if tags is _NONE_GIVEN else tags
        mentions = self._no_mentions if mentions is _NONE_GIVEN else mentions
        self._storage.take(content, tags, mentions)
        self._without_mentions += mentions is self._no_mentions
        tweet = {
            "id": self.tweet_counter,
            "username": self.username,
            "content": content,
            "tags": tags,
            "mentions": mentions,
        }
        self.tweets[self.tweet_counter] = tweet
        self.tweet_counter += 1
        return tweet

    def retweet(self, tweet_id: int) -> dict[str, Any]:
        """Pass a tweet on, once."""
        if not self.authenticated:
            return _refused("retweeting")
        if tweet_id not in self.tweets:
            return _unknown(tweet_id)
        if tweet_id in self.retweets.get(self.username, []):
            return {"retweet_status": "Already retweeted"}
        self._storage.take()
        self.retweets.setdefault(self.username, []).append(tweet_id)
        return {"retweet_status": "Successfully retweeted"}

    def comment(self, tweet_id: int, comment_content: str) -> dict[str, Any]:
        """Comment on a tweet."""
        if not self.authenticated:
            return _refused("commenting")
        if tweet_id not in self.tweets:
            return _unknown(tweet_id)
        self._storage.take(comment_content)
        self.comments.setdefault(tweet_id, []).append({"username": self.username, "content": comment_content})
        return {"comment_status": "Comment added successfully"}

    def mention(self, tweet_id: int, mentioned_usernames: list[str]) -> dict[str, Any]:
        """Add names to those that a tweet mentions."""
        if tweet_id not in self.tweets:
            return _unknown(tweet_id)
        mentions = self.tweets[tweet_id]["mentions"]
        self._storage.take(mentioned_usernames, times=self._without_mentions if mentions is self._no_mentions else 1)
        mentions.extend(mentioned_usernames)
        return {"mention_status": "Users mentioned successfully"}

    # Reading.

    def get_tweet(self, tweet_id: int) -> dict[str, Any]:
        """A tweet."""
        found = self.tweets.get(tweet_id)
        return _unknown(tweet_id) if found is None else found

    def get_user_tweets(self, username: str) -> list[dict[str, Any]]:
        """The tweets of a user."""
        return [tweet for tweet in self.tweets.values() if tweet["username"] == username]

    def search_tweets(self, keyword: str) -> list[dict[str, Any]]:
        """The tweets that contain a text or have it as a tag, whatever its case."""
        return [tweet for tweet in self.tweets.values() if _is_about(tweet, keyword)]

    def get_tweet_comments(self, tweet_id: int) -> list[dict[str, str]] | dict[str, Any]:
        """The comments on a tweet that were made here."""
        return self.comments.get(tweet_id, []) if tweet_id in self.tweets else _unknown(tweet_id)

    def get_user_stats(self, username: str) -> dict[str, Any]:
        """How many tweets a user has written and passed on; how many users are followed is known of one's own."""
        return {
            "tweet_count": len(self.get_user_tweets(username)),
            "following_count": len(self.following_list) if username == self.username else 0,
            "retweet_count": len(self.retweets.get(username, [])),
        }


def _refused(doing: str) -> dict[str, Any]:
    return {"error": f"User not authenticated. Please authenticate before {doing}."}


def _unknown(tweet_id: int) -> dict[str, Any]:
    return {"error": f"Tweet with ID {tweet_id} not found."}


def _is_about(tweet: Mapping[str, Any], keyword: str) -> bool:
    wanted = keyword.lower()
    return wanted in tweet["content"].lower() or wanted in [tag.lower() for tag in tweet["tags"]]
