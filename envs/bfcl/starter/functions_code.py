"""Functions of Java and JavaScript programs.

Texts in a Java array and the entries of a Java map do not survive BFCL's own reading of Java source, so such
arguments are variables of the program here, and what is written out are numbers and lists.
"""

from __future__ import annotations

from callgym.envs.bfcl.starter.functions_model import Function, Parameter, needed, optional
from callgym.envs.bfcl.starter.functions_pools import COLOUR, flag
from callgym.envs.bfcl.starter.functions_values import (
    Choice,
    Code,
    Field,
    Flag,
    Items,
    Kind,
    Phrase,
    Real,
    Record,
    Variable,
    Whole,
    Word,
)

__all__ = ["JAVASCRIPT_FUNCTIONS", "JAVA_FUNCTIONS"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_PREFIXES = _words("user order report draft cached raw local main invoice trip")


def _variable(*second: str, declared: str = "any", item: str = "") -> Variable:
    return Variable(_PREFIXES, second, declared, item)


def _quoted(first: str, second: str, joint: str = "") -> Phrase:
    return Phrase(_words(first), _words(second), joint=joint)


_TABLE = _quoted("orders members parcels readings", "_2023 _2024 _archive _staging")
_PATH = _quoted("/var/log /srv/data /opt/render /home/build", "/in.txt /trace.log /batch.csv /app.conf", "")
_KEY = _quoted("session cart profile quota", ":4711 :8120 :99 :305", "")
_TOPIC = _quoted("billing shipping audit alerts", ".created .failed .retry .v2", "")
_HOSTS = Items(Word(_words("alpha.node beta.node gamma.node delta.node omega.node")), 2, 3, declared="ArrayList")
_COLUMNS = Items(Word(_words("price age weight rating stock score")), 2, 3, declared="ArrayList")
_URL = _quoted("/api/v1/ /api/v2/ /internal/", "orders members quotes uploads metrics", "")
_SELECTOR = _quoted("# .", "chart sidebar toolbar preview gallery", "")


def _java(name: str, description: str, parameters: tuple[Parameter, ...], *clauses: str) -> Function:
    return Function(name, description, parameters, clauses, language="java")


def _javascript(name: str, description: str, parameters: tuple[Parameter, ...], *clauses: str) -> Function:
    return Function(name, description, parameters, clauses, language="javascript")


def _array(kind: Kind, low: int = 3, high: int = 5) -> Items:
    return Items(kind, low, high, declared="Array")


JAVA_FUNCTIONS = (
    _java(
        "BufferPool.resizeBuffer",
        "Gives a buffer of the pool another size.",
        (
            needed("buffer", _variable("Buffer"), "The buffer object."),
            needed("capacity", Whole(256, 65_536, 256), "New capacity in bytes."),
            optional(
                "keepContent",
                flag("keeping its content", "dropping its content"),
                "Whether content is kept.",
                True,
                ", {keepContent}",
            ),
        ),
        "resize {buffer} of the pool to a capacity of {capacity} bytes",
        "give the pool's buffer {buffer} a capacity of {capacity} bytes",
        "change the capacity of the pooled buffer {buffer} to {capacity} bytes",
    ),
    _java(
        "LedgerStore.appendEntry",
        "Appends an entry to a ledger.",
        (
            needed("ledger", _variable("Ledger"), "The ledger object."),
            needed("account", Whole(100_000, 999_999, declared="long"), "Number of the account."),
            needed("amount", Real(5, 900, 2, declared="double"), "Amount that is booked."),
            needed("note", _quoted("rent travel hosting repair", "_march _april _june"), "Text of the entry."),
        ),
        "append an entry to {ledger} for account {account} with the amount {amount} and the note {note}",
        "book {amount} on account {account} in {ledger}, noting {note}",
        "add a ledger entry noted {note} to {ledger}: account {account}, amount {amount}",
    ),
    _java(
        "ThrottleGate.setLimit",
        "Limits the requests that a client may make.",
        (
            needed("clientId", _quoted("mobile web batch partner", "-eu -us -apac"), "Id of the client."),
            needed("requestsPerMinute", Whole(10, 900, 10), "Requests a minute."),
            optional("burst", Whole(5, 60, 5), "Requests that may come at once.", 1, ", with bursts of {burst}"),
            optional(
                "blockMillis",
                Whole(500, 9_000, 500, "long"),
                "Pause after too many requests, in ms.",
                1_000,
                ", blocking for {blockMillis} ms",
            ),
        ),
        "limit the client {clientId} to {requestsPerMinute} requests a minute",
        "set the throttle for {clientId} at {requestsPerMinute} requests per minute",
        "allow client {clientId} no more than {requestsPerMinute} requests each minute",
    ),
    _java(
        "SampleMath.weightedSum",
        "Sum of values times weights.",
        (
            needed("values", _array(Real(2, 40, 1, declared="double"), 4, 4), "The values."),
            needed("weights", _array(Whole(1, 9), 4, 4), "The weights."),
        ),
        "compute the weighted sum of the values {values} with the weights {weights}",
        "sum up {values}, weighted by {weights}",
        "get the sum of {values} with weights {weights} applied",
    ),
    _java(
        "ClusterAdmin.drainNodes",
        "Takes nodes out of a cluster.",
        (
            needed("hosts", _HOSTS, "Names of the nodes."),
            needed("timeoutSeconds", Whole(30, 600, 30, "long"), "How long is waited, in seconds."),
            optional("force", flag("by force", "without force"), "Whether tasks are killed.", False, ", {force}"),
        ),
        "drain the nodes {hosts} with a timeout of {timeoutSeconds} seconds",
        "take {hosts} out of the cluster, waiting at most {timeoutSeconds} seconds",
        "remove the hosts {hosts} from service within {timeoutSeconds} seconds",
    ),
    _java(
        "CsvExporter.writeTable",
        "Writes a table into a CSV file.",
        (
            needed("table", _TABLE, "Name of the table."),
            needed("path", _PATH, "Path of the file."),
            needed("separator", Word((";", "|", "#", "~"), "char"), "Character between the columns."),
            optional(
                "header", flag("with a header", "without a header"), "Whether a header is written.", True, ", {header}"
            ),
        ),
        "export the table {table} to {path} with the separator {separator}",
        "write {table} into the file {path}, columns separated by {separator}",
        "dump the table {table} as CSV into {path} with {separator} between columns",
    ),
    _java(
        "SensorHub.calibrate",
        "Calibrates a sensor.",
        (
            needed("sensor", _variable("Sensor"), "The sensor object."),
            needed("offset", Real(1, 9, 2, whole=0, declared="float"), "Added to every reading."),
            needed("gain", Real(1, 4, 1, declared="float"), "Factor for every reading."),
        ),
        "calibrate {sensor} with an offset of {offset} and a gain of {gain}",
        "set offset {offset} and gain {gain} on the sensor {sensor}",
        "adjust {sensor}: gain {gain}, offset {offset}",
    ),
    _java(
        "EventBusBridge.publish",
        "Publishes a message on a topic.",
        (
            needed("topic", _TOPIC, "Name of the topic."),
            needed("payload", _variable("Payload", "Event", declared="HashMap"), "The content as a map."),
            optional("partition", Whole(2, 12), "Partition of the topic.", 0, " on partition {partition}"),
        ),
        "publish the map {payload} on the topic {topic}",
        "send {payload} to the topic {topic}",
        "put the event map {payload} onto topic {topic}",
    ),
    _java(
        "CacheWarmer.preload",
        "Loads keys into the cache ahead of use.",
        (
            needed("cache", _variable("Cache"), "The cache object."),
            needed("keys", _variable("Keys", declared="Array", item="String"), "The keys."),
            optional(
                "ttlSeconds",
                Whole(60, 3_600, 60, "long"),
                "How long they stay, in seconds.",
                300,
                " for {ttlSeconds} seconds",
            ),
        ),
        "preload the key array {keys} into {cache}",
        "warm up {cache} with all keys of {keys}",
        "load everything in {keys} into the cache {cache}",
    ),
    _java(
        "TextWrapper.wrapLines",
        "Breaks a text into lines.",
        (
            needed("text", _variable("Text", "Summary", declared="String"), "The text."),
            needed("width", Whole(40, 120, 4), "Most characters in a line."),
            optional("filler", Word(("#", "=", "+"), "char"), "Fills short lines.", "~", ", filled up with {filler}"),
        ),
        "wrap the lines of {text} at a width of {width}",
        "break {text} into lines of at most {width} characters",
        "format {text} so that no line has more than {width} characters",
    ),
    _java(
        "RetryPolicyFactory.create",
        "Makes a policy for repeated attempts.",
        (
            needed("attempts", Whole(2, 12), "Most attempts."),
            needed("delayMillis", Whole(100, 5_000, 100, "long"), "First delay in ms."),
            needed("factor", Real(1, 4, 1, declared="double"), "Growth of the delay."),
            optional("jitter", flag("with jitter", "without jitter"), "Whether delays vary.", False, ", {jitter}"),
        ),
        "create a retry policy with {attempts} attempts, a delay of {delayMillis} ms and a factor of {factor}",
        "make a policy that retries {attempts} times, first after {delayMillis} ms, growing by a factor of {factor}",
        "I need a retry policy: {attempts} attempts, initial delay {delayMillis} ms, growth factor {factor}.",
    ),
    _java(
        "IndexBuilder.addFields",
        "Adds fields to a search index.",
        (
            needed("index", _TABLE, "Name of the index."),
            needed("fields", _COLUMNS, "Names of the fields."),
            optional(
                "boost", Real(2, 6, 1, declared="float"), "Weight of the fields.", 1.0, " with a boost of {boost}"
            ),
        ),
        "add the fields {fields} to the index {index}",
        "extend the search index {index} by {fields}",
        "make {fields} searchable in the index {index}",
    ),
    _java(
        "GraphRouter.shortestPath",
        "Shortest path between two nodes of a graph.",
        (
            needed("graph", _variable("Graph", "Network"), "The graph object."),
            needed("fromNode", Whole(1, 400), "Number of the first node."),
            needed("toNode", Whole(401, 900), "Number of the last node."),
            optional(
                "avoid",
                Items(Whole(901, 990), 2, 3, declared="ArrayList"),
                "Nodes that are avoided.",
                [],
                ", avoiding {avoid}",
            ),
        ),
        "find the shortest path in {graph} from node {fromNode} to node {toNode}",
        "what is the shortest path from {fromNode} to {toNode} in {graph}?",
        "route from node {fromNode} to node {toNode} through {graph} on the shortest path",
    ),
    _java(
        "ImageFilters.applyBlur",
        "Blurs an image.",
        (
            needed("image", _variable("Image", "Bitmap"), "The image object."),
            needed("radius", Real(1, 12, 1, declared="float"), "Radius in pixels."),
            needed("preserveAlpha", flag("preserving alpha", "ignoring alpha"), "Whether transparency is kept."),
        ),
        "blur {image} with a radius of {radius} pixels, {preserveAlpha}",
        "apply a blur of radius {radius} to {image}, {preserveAlpha}",
        "soften {image}, {preserveAlpha}, by a blur of radius {radius}",
    ),
    _java(
        "QuotaRegistry.assign",
        "Assigns quotas to shards.",
        (
            needed(
                "shardIds", Items(Whole(10, 900, declared="long"), 2, 4, declared="ArrayList"), "Ids of the shards."
            ),
            needed("megabytes", Whole(64, 4_096, 64), "Quota of each in MB."),
            needed("key", _KEY, "Key under which it is stored."),
        ),
        "assign {megabytes} MB to the shards {shardIds} under the key {key}",
        "give each of the shards {shardIds} a quota of {megabytes} MB, stored as {key}",
        "store under {key} a quota of {megabytes} MB for the shard ids {shardIds}",
    ),
    _java(
        "StepTimer.record",
        "Records how long steps took.",
        (
            needed("name", _quoted("parse load merge render", "_step _phase"), "Name of the measurement."),
            needed("millis", _array(Whole(2, 800)), "Times in ms."),
        ),
        "record the times {millis} in ms under {name}",
        "store the measurement {name} with {millis} milliseconds",
        "log {millis} ms as the timings of {name}",
    ),
)

_REQUEST = Record(
    {
        "method": Field(Choice({"GET": (), "POST": (), "PUT": (), "DELETE": ()}), "Method of the request."),
        "retries": Field(Whole(1, 6), "How often it is repeated."),
        "timeout": Field(Whole(500, 9_000, 500), "Time limit in ms."),
    },
    ("method {method}, {retries} retries and a timeout of {timeout}",),
)
_AXIS = Record(
    {
        "label": Field(Word(_words("weeks euros degrees visitors litres")), "Label of the axis."),
        "min": Field(Whole(0, 20, 5), "Smallest value."),
        "max": Field(Whole(50, 400, 50), "Largest value."),
    },
    ("the label {label}, min {min} and max {max}",),
)
_SERIES = Items(Real(2, 90, 1), 3, 5)
_LABELS = Items(Word(_words("north south east west centre harbour")), 2, 4)

JAVASCRIPT_FUNCTIONS = (
    _javascript(
        "drawBarChart",
        "Draws a bar chart into an element.",
        (
            needed("selector", _SELECTOR, "Selector of the element."),
            needed("values", _SERIES, "Heights of the bars."),
            needed("labels", _LABELS, "Labels below the bars."),
            optional("colour", COLOUR, "Colour of the bars.", "grey", " in {colour}"),
        ),
        "draw a bar chart into {selector} with the values {values} and the labels {labels}",
        "show {values} as bars labelled {labels} inside {selector}",
        "render a bar chart with labels {labels} and values {values} in the element {selector}",
    ),
    _javascript(
        "configureAxis",
        "Sets up an axis of a chart.",
        (
            needed("chart", _variable("Chart", "Plot"), "The chart object."),
            needed("axis", _AXIS, "Label and range of the axis."),
            optional(
                "logarithmic",
                flag("logarithmic", "linear"),
                "Whether the scale is logarithmic.",
                False,
                ", {logarithmic}",
            ),
        ),
        "set up the axis of {chart} with {axis}",
        "give {chart} an axis with {axis}",
        "configure the axis of the chart object {chart}: {axis}",
    ),
    _javascript(
        "debounceHandler",
        "Delays a handler until calls pause.",
        (
            needed("handler", _variable("Handler", "Callback"), "The handler function."),
            needed("delay", Whole(50, 2_000, 50), "Delay in ms."),
            optional(
                "leading", flag("firing at the start", "firing at the end"), "When it fires.", False, ", {leading}"
            ),
        ),
        "debounce {handler} by {delay} ms",
        "delay the handler {handler} until calls pause for {delay} ms",
        "wrap {handler} so that it waits for a pause of {delay} milliseconds",
    ),
    _javascript(
        "sendRequest",
        "Sends a request with options.",
        (
            needed("url", _URL, "The url."),
            needed("options", _REQUEST, "Options of the request."),
            needed("onSuccess", _variable("Handler", "Loader"), "Function that takes the answer."),
        ),
        "send a request to {url} with {options}, handing the answer to {onSuccess}",
        "call {url} with {options} and let {onSuccess} take the answer",
        "request {url} with the options {options}; on success run {onSuccess}",
    ),
    _javascript(
        "paginateItems",
        "Cuts a list into pages.",
        (
            needed("items", _variable("Items", "Rows", declared="array", item="any"), "The list."),
            needed("pageSize", Whole(5, 100, 5), "Items on a page."),
            optional("page", Whole(2, 30), "Page that is returned.", 1, ", page {page}"),
        ),
        "paginate {items} with {pageSize} items a page",
        "cut {items} into pages of {pageSize}",
        "split the list {items} so that each page has {pageSize} items",
    ),
    _javascript(
        "interpolateSeries",
        "Fills gaps in a series.",
        (
            needed("points", _SERIES, "Known values in order."),
            needed("factor", Real(1, 5, 1), "Density of the new points."),
            optional("smooth", flag("smoothly", "linearly"), "Whether the curve is smooth.", False, " {smooth}"),
        ),
        "interpolate the points {points} by a factor of {factor}",
        "fill the gaps of {points} at a density factor of {factor}",
        "densify the series {points} by the factor {factor}",
    ),
    _javascript(
        "validateForm",
        "Checks the fields of a form.",
        (
            needed("form", _variable("Form"), "The form object."),
            needed("fields", Items(Word(_words("email phone street birthday nickname")), 2, 3), "Names of the fields."),
            needed("strict", Flag(("strictly",), ("leniently",)), "Whether empty fields are refused."),
        ),
        "validate the fields {fields} of {form} {strict}",
        "check {form} {strict} for the fields {fields}",
        "make sure, {strict}, that {fields} in {form} are filled in well",
    ),
    _javascript(
        "animateElement",
        "Moves an element.",
        (
            needed("selector", _SELECTOR, "Selector of the element."),
            needed("distance", Real(10, 400, 1), "Distance in pixels."),
            needed("duration", Whole(100, 3_000, 100), "Duration in ms."),
            optional(
                "easing",
                Choice({"linear": (), "bounce": (), "elastic": ()}),
                "Course of the motion.",
                "linear",
                " with {easing} easing",
            ),
        ),
        "move {selector} by {distance} pixels within {duration} ms",
        "animate the element {selector} over {distance} px in {duration} ms",
        "let {selector} travel {distance} pixels, taking {duration} milliseconds",
    ),
    _javascript(
        "groupRecords",
        "Groups records by fields.",
        (
            needed("records", _variable("Records", "Entries", declared="array", item="dict"), "The records."),
            needed("fields", Items(Word(_words("country year status branch")), 1, 2), "Fields to group by."),
            optional(
                "withCounts", flag("with counts", "without counts"), "Whether counts are added.", True, ", {withCounts}"
            ),
        ),
        "group {records} by {fields}",
        "put the records {records} into groups by {fields}",
        "arrange {records} in groups, one for each {fields}",
    ),
    _javascript(
        "storeToken",
        "Stores a token in the browser.",
        (
            needed("token", Code("tok_####@@"), "The token."),
            needed("lifetime", Whole(600, 7_200, 600), "Lifetime in seconds."),
            optional(
                "scope",
                Choice({"session": (), "local": ()}),
                "Where it is stored.",
                "session",
                " in the {scope} storage",
            ),
        ),
        "store the token {token} for {lifetime} seconds",
        "keep {token} for {lifetime} seconds",
        "save the access token {token} with a lifetime of {lifetime} seconds",
    ),
    _javascript(
        "formatPrice",
        "Formats a price for display.",
        (
            needed("price", Real(5, 900, 2), "The price."),
            needed("currency", Choice({"EUR": (), "USD": (), "SEK": ()}), "Code of the currency."),
            optional(
                "grouping",
                flag("with thousands separators", "without thousands separators"),
                "Whether thousands are separated.",
                True,
                ", {grouping}",
            ),
        ),
        "format the price {price} in {currency}",
        "write {price} as a price in {currency}",
        "turn {price} into a {currency} price for display",
    ),
    _javascript(
        "resizeGrid",
        "Gives a grid another size.",
        (
            needed("grid", _variable("Grid", "Board"), "The grid object."),
            needed("columns", Whole(2, 24), "Number of columns."),
            needed("rows", Whole(2, 40), "Number of rows."),
        ),
        "resize {grid} to {columns} columns and {rows} rows",
        "give the grid {grid} {rows} rows and {columns} columns",
        "make {grid} a grid of {columns} columns by {rows} rows",
    ),
    _javascript(
        "mergeSettings",
        "Merges settings into the defaults.",
        (
            needed("defaults", _variable("Defaults", "Config", declared="dict"), "Object with the defaults."),
            needed(
                "overrides",
                Record(
                    {
                        "theme": Field(Choice({"dark": (), "light": (), "sepia": ()}), "Name of the theme."),
                        "fontSize": Field(Whole(9, 24), "Size of the font."),
                    },
                    ("the theme {theme} and font size {fontSize}",),
                ),
                "What is changed.",
            ),
        ),
        "merge {overrides} into {defaults}",
        "take the settings of {defaults} and override them by {overrides}",
        "apply {overrides} on top of the defaults object {defaults}",
    ),
    _javascript(
        "scheduleReminder",
        "Schedules a reminder.",
        (
            needed(
                "text",
                Phrase(("check", "prepare", "archive"), ("the backups", "the handout", "the old drafts")),
                "Text of the reminder.",
            ),
            needed("minutes", Whole(2, 240), "Minutes from now."),
            optional("repeat", flag("repeatedly", "once"), "Whether it repeats.", False, ", {repeat}"),
        ),
        "schedule the reminder {text} in {minutes} minutes",
        "show me {text} as a reminder {minutes} minutes from now",
        "set a reminder for {minutes} minutes from now that says {text}",
    ),
)
