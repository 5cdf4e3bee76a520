"""Starter worlds of TwitterAPI: an account, other people's tweets, and what users ask to be posted and passed on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import HANDLES, note, post, quoted, word_list

__all__ = ["FOLLOW_UPS", "NEWEST_TWEET", "REQUESTS", "is_ready", "make_config", "publish", "tags"]

OWNER = "TwitterAPI"
_PASSWORDS = ("kestrel", "walnut", "tundra", "mosaic", "saffron", "gravel", "meadow", "cobalt")
_TAGS = word_list(
    """
    #OpenDoors #SlowTravel #TideTables #BreadWeek #NightMarket #SmallBoats #OldMaps #FieldNotes #WarmLights
    #RainPlan #RoofGarden #LateTrain #TinyHarvest #PaperTrail #StoneBridge #FirstFrost
    """
)
NEWEST_TWEET = "newest tweet"


def make_config(script: Script) -> Mapping[str, Any]:
    """An account with some tweets of others around it; most often one is logged in."""
    me, *others = script.some_own(HANDLES, 6)
    texts = list({post(script): None for _ in range(script.whole(4, 7))})
    first = script.whole(0, 400)
    tweets = {
        str(first + number): {
            "id": first + number,
            "username": me if number == 1 else script.pick(others[:3]),
            "content": text,
            "tags": script.some(_TAGS, script.whole(0, 2)),
            "mentions": [],
        }
        for number, text in enumerate(texts)
    }
    script.facts["accounts"] = others
    return {
        "username": me,
        "password": f"{script.pick(_PASSWORDS)}-{script.pick(_PASSWORDS)}-{script.whole(10, 99)}",
        "authenticated": script.chance(0.8),
        "tweets": tweets,
        "comments": {},
        "retweets": {},
        "following_list": script.some(others, 3),
        "tweet_counter": first + len(texts),
    }


def is_ready(script: Script) -> bool:
    """Whether tweets can be posted now."""
    return script.has(OWNER) and bool(script.state(OWNER).authenticated)


def tags(script: Script, count: int) -> list[str]:
    """Some hashtags."""
    return script.some(_TAGS, count)


def publish(script: Script, content: str, **more: Any) -> None:
    """Post a tweet that later turns can speak of."""
    script.told[NEWEST_TWEET] = script.do("post_tweet", content=content, **more)["id"]


# --- requests ---------------------------------------------------------------------------------------------------


def _log_in(script: Script) -> Request | None:
    account = script.state(OWNER)
    if account.authenticated:
        return None
    words = script.say(
        'log in to my account "{name}", the password is "{password}"',
        'sign in as "{name}" with the password "{password}"',
        'open my account: it is called "{name}", and "{password}" gets you in',
        name=account.username,
        password=account.password,
    )
    lacking = script.say('log in to my account "{name}"', 'sign in as "{name}"', name=account.username)
    supplied = script.tell('The password is "{password}".', 'Use the password "{password}".', password=account.password)
    script.do("authenticate_twitter", username=account.username, password=account.password)
    return Request(words, (lacking, supplied), ("authenticate_twitter",))


def _post(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    content = post(script)
    chosen, mentioned = tags(script, script.whole(0, 2)), script.some(script.facts["accounts"], script.whole(0, 1))
    more = f" with the {'hashtag' if len(chosen) == 1 else 'hashtags'} {quoted(chosen)}" if chosen else ""
    more += f"{' and' if more else ''} mentioning {quoted(mentioned)}" if mentioned else ""
    words = script.say(
        'post "{content}"{more}',
        'tweet exactly this: "{content}"{more}',
        'publish a tweet{more} that reads "{content}"',
        content=content,
        more=more,
    )
    lacking = script.say("post a tweet{more}", "publish a new tweet{more}", more=more)
    supplied = script.tell('It should read "{content}".', 'The text is "{content}".', content=content)
    given = {"tags": chosen} if chosen else {}
    publish(script, content, **given, **({"mentions": mentioned} if mentioned else {}))
    return Request(words, (lacking, supplied), ("post_tweet",))


def _comment(script: Script) -> Request | None:
    if NEWEST_TWEET not in script.told or not is_ready(script):
        return None
    text = note(script)
    words = script.say(
        'comment on that tweet: "{text}"',
        'put the comment "{text}" under that tweet',
        'add "{text}" as a comment on that tweet',
        text=text,
    )
    lacking = script.say("put a comment under that tweet", "comment on that tweet, too")
    supplied = script.tell('Write "{text}".', 'The comment is "{text}".', text=text)
    script.do("comment", tweet_id=script.told[NEWEST_TWEET], comment_content=text)
    return Request(words, (lacking, supplied), ("comment",))


def _comment_by_number(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    number = script.pick(list(script.state(OWNER).tweets))
    text = note(script)
    words = script.say(
        'show me tweet number {number} and comment on it: "{text}"',
        'get tweet {number} for me, then put "{text}" under it as a comment',
        'look up tweet {number} and add the comment "{text}"',
        number=number,
        text=text,
    )
    lacking = script.say('show me a tweet and comment on it: "{text}"', text=text)
    supplied = script.tell("I mean tweet number {number}.", "It is number {number}.", number=number)
    script.do("get_tweet", tweet_id=number)
    script.do("comment", tweet_id=number, comment_content=text)
    script.told[NEWEST_TWEET] = number
    return Request(words, (lacking, supplied))


def _show_comments(script: Script) -> Request | None:
    number = script.told.get(NEWEST_TWEET)
    if number is None or not script.state(OWNER).comments.get(number):
        return None
    words = script.say(
        "show me the comments on that tweet",
        "list what has been commented on that tweet",
        "read all comments on that tweet to me",
    )
    script.do("get_tweet_comments", tweet_id=number)
    return Request(words, None, ("get_tweet_comments",))


def _is_logged_in(script: Script) -> Request | None:
    words = script.say(
        "check whether I am logged in to my account for posts",
        "find out if my account for posts is logged in",
        "tell me whether I am signed in where I post",
    )
    script.do("posting_get_login_status")
    return Request(words, None, ("posting_get_login_status",))


def _mention(script: Script) -> Request | None:
    if NEWEST_TWEET not in script.told or not is_ready(script):
        return None
    account = script.state(OWNER)
    number = script.told[NEWEST_TWEET]
    there = account.tweets[number]["mentions"]
    free = [name for name in script.facts["accounts"] if name not in there]
    if account.tweets[number]["username"] != account.username or len(free) < 2:
        return None
    names = script.some(free, script.whole(1, 2))
    words = script.say(
        "mention {names} in that tweet",
        "add {names} to those that are mentioned in that tweet",
        "let that tweet mention {names}, too",
        names=quoted(names),
    )
    lacking = script.say("mention somebody else in that tweet", "add a mention to that tweet")
    supplied = script.tell("I mean {names}.", "Mention {names}.", names=quoted(names))
    script.do("mention", tweet_id=number, mentioned_usernames=names)
    return Request(words, (lacking, supplied), ("mention",))


def _pass_on(script: Script) -> Request | None:
    """The newest tweet of an account, or the one with a word in it."""
    if not is_ready(script):
        return None
    account = script.state(OWNER)
    if script.chance(0.5):
        name = script.pick([tweet["username"] for tweet in account.tweets.values()])
        found = [tweet["id"] for tweet in account.tweets.values() if tweet["username"] == name]
        words = script.say(
            'look at the tweets of "{name}" and retweet the newest one',
            'get what "{name}" has posted and pass the latest tweet on',
            'go through the tweets of "{name}"; the most recent one is to be retweeted',
            name=name,
        )
        call, given = "get_user_tweets", {"username": name}
    else:
        content = script.pick([tweet["content"] for tweet in account.tweets.values()])
        word = max(content.split(), key=len).strip(".,?!:")
        found = [tweet["id"] for tweet in account.tweets.values() if word.lower() in tweet["content"].lower()]
        words = script.say(
            'search the tweets for "{word}" and retweet what you find',
            'find the tweet with "{word}" in it and pass it on',
            'one tweet has the word "{word}": search for it and retweet it',
            word=word,
        )
        if len(found) != 1:
            return None
        call, given = "search_tweets", {"keyword": word}
    if found[-1] in account.retweets.get(account.username, []):
        return None
    script.do(call, **given)
    script.do("retweet", tweet_id=found[-1])
    script.told[NEWEST_TWEET] = found[-1]
    return Request(words, None, (call,) if call == "get_user_tweets" else ())


def _follow(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    account = script.state(OWNER)
    free = [name for name in script.facts["accounts"] if name not in account.following_list]
    if not free:
        return None
    name = script.pick(free)
    words = script.say(
        'follow "{name}"', 'start following the account "{name}"', 'put "{name}" among those I follow', name=name
    )
    lacking = script.say("follow one more account for me", "start following somebody new")
    supplied = script.tell('The account is "{name}".', 'I mean "{name}".', name=name)
    script.do("follow_user", username_to_follow=name)
    return Request(words, (lacking, supplied), ("follow_user",))


def _unfollow(script: Script) -> Request | None:
    """The first or last on the list of those that are followed."""
    if not is_ready(script):
        return None
    following = script.state(OWNER).following_list
    place, which = script.pick(((0, "first"), (-1, "last")))
    if len(following) < 2:
        return None
    words = script.say(
        "list everybody I follow and unfollow the {which} one on the list",
        "show me whom I follow, then stop following the {which} of them",
        "get the list of accounts I follow; drop the {which} one",
        which=which,
    )
    name = script.do("list_all_following")["following_list"][place]
    script.do("unfollow_user", username_to_unfollow=name)
    return Request(words, None, ("list_all_following",))


def _follow_busier(script: Script) -> Request | None:
    """Whichever of two accounts has posted more."""
    if not is_ready(script):
        return None
    account = script.state(OWNER)
    free = [name for name in script.facts["accounts"] if name not in account.following_list]
    counts = {name: sum(tweet["username"] == name for tweet in account.tweets.values()) for name in free}
    if len(free) < 2 or counts[free[0]] == counts[free[1]]:
        return None
    words = script.say(
        'compare how many tweets "{one}" and "{other}" have posted and follow the one with more',
        'get the figures of "{one}" and "{other}"; I want to follow whoever has more tweets',
        'see who has tweeted more, "{one}" or "{other}", and follow that account',
        one=free[0],
        other=free[1],
    )
    for name in free[:2]:
        script.do("get_user_stats", username=name)
    script.do("follow_user", username_to_follow=max(free[:2], key=counts.__getitem__))
    return Request(words)


def _show_stats(script: Script) -> Request | None:
    if not is_ready(script):
        return None
    name = script.state(OWNER).username
    words = script.say(
        'tell me how many tweets, retweets and followed accounts "{name}" has',
        'show me the figures of my account "{name}"',
        'give me the statistics of "{name}"',
        name=name,
    )
    script.do("get_user_stats", username=name)
    return Request(words)


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (8, _log_in),
    (5, _post),
    (3, _comment_by_number),
    (4, _pass_on),
    (3, _follow),
    (3, _unfollow),
    (3, _follow_busier),
    (1, _show_stats),
    (1, _is_logged_in),
)
"""What users ask for, and how often."""
FOLLOW_UPS: tuple[tuple[int, Writer], ...] = (
    (3, _comment),
    (3, _mention),
    (3, _show_comments),
)
"""The same of what goes on from an earlier turn."""
