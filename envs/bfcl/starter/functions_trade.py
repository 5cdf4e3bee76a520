"""Functions for finance, shopping, logistics, travel and weather."""

from __future__ import annotations

from callgym.envs.bfcl.starter.functions_model import Function, needed, optional
from callgym.envs.bfcl.starter.functions_pools import (
    CITY,
    COLOUR,
    COUNTRY,
    CURRENCY,
    DATE,
    DAYS,
    FEW,
    MONEY,
    PERSONS,
    TOWN,
    flag,
    words,
)
from callgym.envs.bfcl.starter.functions_values import (
    Amounts,
    Choice,
    Code,
    Field,
    Items,
    Phrase,
    Real,
    Record,
    Whole,
    Word,
)

__all__ = ["FUNCTIONS"]

_SUM = Real(500, 60_000, 2, whole=0.8)
_RATE = Real(1, 9, 2, whole=0.2)
_SHARES = Amounts(words("ALPN BRKE CDRX DUNE ELMO FJRD GLAS HELI"), Whole(5, 400, 5), "{value} shares of {key}")

_FINANCE = (
    Function(
        "finance.compound_interest",
        "Final amount of an investment with compound interest.",
        (
            needed("principal", _SUM, "Amount invested."),
            needed("rate_percent", _RATE, "Yearly interest in percent: 4.5 means 4.5 %."),
            needed("years", Whole(2, 30), "Duration in whole years."),
            optional(
                "times_per_year",
                Whole(2, 12, 2),
                "How often a year interest is added.",
                1,
                ", with interest added {times_per_year} times a year",
            ),
        ),
        (
            "calculate what {principal} at {rate_percent}% compound interest grows to in {years} years",
            "with compound interest, what becomes| of {principal} at {rate_percent}% a year after {years} years?",
            "work out the final amount, compound interest included,| of {principal} invested for {years} years at "
            "{rate_percent}%",
        ),
        lists="years",
    ),
    Function(
        "finance.simple_interest",
        "Interest that a sum bears over some months, without interest on interest.",
        (
            needed("principal", _SUM, "The sum."),
            needed("rate_percent", _RATE, "Yearly interest in percent."),
            needed("months", Whole(2, 36), "Duration in months."),
        ),
        (
            "calculate the simple interest| on {principal} at {rate_percent}% for {months} months",
            "how much simple interest do I get| for {principal} over {months} months at {rate_percent}% a year?",
            "work out the simple interest| that {principal} bear in {months} months at {rate_percent}%",
        ),
        lists="months",
    ),
    Function(
        "finance.loan_payment",
        "Monthly payment for a loan.",
        (
            needed("amount", _SUM, "Amount of the loan."),
            needed("rate_percent", _RATE, "Yearly interest in percent."),
            needed("years", Whole(2, 30), "Duration in years."),
            optional(
                "deferred",
                flag("with the first payment deferred", "without deferring the first payment"),
                "Whether the first payment is due a month later.",
                False,
                " {deferred}",
            ),
        ),
        (
            "compute the monthly payment for a loan| of {amount} at {rate_percent}% over {years} years",
            "what do I pay a month for a loan| of {amount} that runs {years} years at {rate_percent}%?",
            "find the monthly rate of a loan| over {years} years, {amount} at {rate_percent}% a year",
        ),
        lists="years",
        foreign={
            "de": "Wie hoch ist die Monatsrate für einen Kredit über {amount} bei {rate_percent}% und {years} Jahren "
            "Laufzeit?",
            "es": "¿Cuál es la cuota mensual de un préstamo de {amount} al {rate_percent}% a {years} años?",
        },
    ),
    Function(
        "finance.exchange",
        "Exchange money between currencies at the rate of a day.",
        (
            needed("amount", MONEY, "Amount of money."),
            needed("source", CURRENCY, "Currency code of the amount."),
            needed("target", CURRENCY, "Currency code of the result."),
            optional("date", DATE, "Day of the rate, YYYY-MM-DD; today if left out.", None, " at the rate of {date}"),
        ),
        (
            "change {amount} {source} into {target}",
            "how much are {amount} {source} in {target}?",
            "tell me the worth of| {amount} {source} in {target}",
        ),
        lists="target",
        differ=("source", "target"),
        foreign={
            "de": "Wieviel sind {amount} {source} in {target}?",
            "it": "Quanto fanno {amount} {source} in {target}?",
            "id": "Berapa {amount} {source} dalam {target}?",
        },
    ),
    Function(
        "finance.portfolio_value",
        "Present value of a portfolio of shares.",
        (
            needed("holdings", _SHARES, "Symbol to number of shares."),
            optional("currency", CURRENCY, "Currency code of the result.", "EUR", ", in {currency}"),
        ),
        (
            "value a portfolio| of {holdings}",
            "what is a portfolio worth| that holds {holdings}?",
            "tell me the present value of my depot| with {holdings}",
        ),
    ),
    Function(
        "finance.split_bill",
        "Split a bill evenly among people.",
        (
            needed("total", Real(20, 400, 2), "The bill."),
            needed("people", PERSONS, "First names of those who pay."),
            optional("tip_percent", Whole(5, 20, 5), "Tip in percent.", 0, ", with a tip of {tip_percent} percent"),
        ),
        (
            "split a bill of {total} among {people}",
            "divide {total} evenly between {people}",
            "{people} share a bill of {total}; work out what each of them pays.",
        ),
    ),
    Function(
        "finance.add_vat",
        "Gross price from a net price.",
        (
            needed("net", MONEY, "Price without tax."),
            needed("rate_percent", Whole(5, 25), "Value added tax in percent."),
        ),
        (
            "add {rate_percent}% value added tax to a net price of {net}",
            "what is the gross price of {net} net with {rate_percent}% VAT?",
            "work out the gross price| for a net price of {net} and a VAT of {rate_percent}%",
        ),
        lists="net",
    ),
    Function(
        "finance.break_even",
        "Number of units from which on a product makes profit.",
        (
            needed("fixed_costs", _SUM, "Costs that do not depend on the number of units."),
            needed("price", Real(20, 90, 2), "Price of a unit."),
            needed("unit_cost", Real(3, 18, 2), "Cost of making a unit."),
        ),
        (
            "find the break-even point| for fixed costs of {fixed_costs}, a price of {price} and unit costs of "
            "{unit_cost}",
            "how many units must I sell to break even| if fixed costs are {fixed_costs}, each sells for {price} and "
            "costs {unit_cost} to make?",
            "calculate when a product breaks even| that costs {unit_cost} to make, sells for {price} and has "
            "{fixed_costs} in fixed costs",
        ),
    ),
)

_ARTICLE = Word(
    words(
        """
        rain_jacket desk_lamp tea_kettle camping_stove garden_hose bicycle_lock yoga_mat wool_blanket hand_drill
        bread_knife suitcase head_torch fountain_pen door_mat picture_frame hiking_pole
        """
    )
)
_SHOPS = Items(Word(words("Norda Kaufgut Bellmart Trovado Hallbergs Quickly Minova")), 2, 3)
_ORDER = Code("ORD-#####")
_CART = Code("C####@")
_LINE = Record(
    {
        "article": Field(_ARTICLE, "Name of the article in the singular."),
        "quantity": Field(Whole(1, 9), "How many."),
    },
    ("{quantity} x {article}",),
)

_SHOP = (
    Function(
        "shop.search_products",
        "Search the products of the shop.",
        (
            needed("query", _ARTICLE, "What is searched, in the words of the customer."),
            optional("max_price", Whole(20, 250, 5), "Highest price.", None, " for at most {max_price}"),
            optional("colour", COLOUR, "Colour of the product.", None, " in {colour}"),
            optional(
                "in_stock",
                flag("in stock", "even if out of stock"),
                "Only products that are in stock.",
                True,
                ", {in_stock}",
            ),
        ),
        (
            "search the shop for| a {query}",
            "look in the shop for| a {query}",
            "find products in the shop that match| the words {query}",
        ),
        foreign={
            "fr": "Cherche {query} dans la boutique.",
            "vi": "Tìm {query} trong cửa hàng giúp tôi.",
        },
    ),
    Function(
        "shop.place_order",
        "Place an order in the shop.",
        (
            needed("lines", Items(_LINE, 1, 3), "What is ordered."),
            optional(
                "express",
                flag("by express", "by normal delivery"),
                "Whether it is delivered within a day.",
                False,
                ", delivered {express}",
            ),
        ),
        (
            "place an order| for {lines}",
            "order| {lines}",
            "buy| {lines}",
        ),
    ),
    Function(
        "shop.return_article",
        "Announce that an article is sent back.",
        (
            needed("order_id", _ORDER, "Id of the order."),
            needed("article", _ARTICLE, "Name of the article."),
            needed(
                "reason",
                Choice(
                    {
                        "damaged": ("it is damaged", "it arrived damaged"),
                        "wrong_size": ("the size is wrong", "it has the wrong size"),
                        "not_as_described": ("it is not as described",),
                        "too_late": ("it came too late",),
                    }
                ),
                "Why it is sent back.",
            ),
        ),
        (
            "return the {article} of order {order_id} because {reason}",
            "I want to send back the {article} from {order_id} since {reason}; please announce it.",
            "announce a return for order {order_id}: the {article}, as {reason}",
        ),
    ),
    Function(
        "shop.apply_voucher",
        "Apply a voucher to a cart.",
        (needed("cart_id", _CART, "Id of the cart."), needed("code", Code("SAVE##"), "Code of the voucher.")),
        (
            "apply the voucher {code} to cart {cart_id}",
            "use my voucher| {code} on the cart {cart_id}",
            "redeem| {code} for the cart {cart_id}",
        ),
    ),
    Function(
        "shop.compare_prices",
        "Compare what an article costs in several shops.",
        (
            needed("article", _ARTICLE, "Name of the article."),
            needed("shops", _SHOPS, "Names of the shops."),
            optional(
                "with_shipping",
                flag("including shipping", "without shipping"),
                "Whether shipping is added.",
                False,
                ", {with_shipping}",
            ),
        ),
        (
            "compare the price of a {article} at {shops}",
            "where is a {article} cheapest out of {shops}?",
            "check what a {article} costs at {shops}",
        ),
        lists="article",
    ),
    Function(
        "shop.cancel_order",
        "Cancel an order that was not sent yet.",
        (needed("order_id", _ORDER, "Id of the order."),),
        ("cancel the order| {order_id}", "stop my order| {order_id}", "call off the order| {order_id}"),
        lists="order_id",
        foreign={"de": "Storniere bitte die Bestellung {order_id}.", "es": "Cancela el pedido {order_id}, por favor."},
    ),
    Function(
        "shop.rate_article",
        "Rate an article with stars.",
        (
            needed("article", _ARTICLE, "Name of the article."),
            needed("stars", Whole(1, 5), "One to five stars."),
        ),
        (
            "rate the {article} with {stars} stars",
            "leave a rating| of {stars} stars for the {article}",
            "give the {article} a rating of {stars} out of 5",
        ),
        lists="article",
    ),
)

_PARCEL = Code("PX#####@")
_BOX = Record(
    {
        "length_cm": Field(Whole(20, 120, 5), "Length in cm."),
        "width_cm": Field(Whole(15, 80, 5), "Width in cm."),
        "height_cm": Field(Whole(10, 70, 5), "Height in cm."),
        "count": Field(Whole(2, 40), "How many of them."),
    },
    ("{count} boxes of {length_cm} by {width_cm} by {height_cm} cm",),
)
_ADDRESS = Record(
    {
        "street": Field(
            Phrase(words("Mill Chapel Harbour Castle Bridge Market Forest"), words("Road Lane Street Row"), False),
            "Street without number.",
        ),
        "number": Field(Whole(2, 140), "House number."),
        "city": Field(TOWN, "City."),
    },
    ("{street} {number} in {city}", "{number} {street}, {city}"),
)
_BIN = Code("@##")

_LOGISTICS = (
    Function(
        "logistics.track_parcel",
        "Where a parcel is.",
        (needed("code", _PARCEL, "Code on the label of the parcel."),),
        (
            "track the parcel| {code}",
            "where is the parcel| with the code {code}?",
            "see where my parcel is,| {code}",
        ),
        lists="code",
        foreign={
            "de": "Wo ist mein Paket {code}?",
            "es": "¿Dónde está mi paquete {code}?",
            "ja": "荷物{code}は今どこにありますか。",
        },
    ),
    Function(
        "logistics.shipping_cost",
        "Cost of sending a parcel.",
        (
            needed("weight_kg", Real(1, 30, 1), "Weight in kilograms."),
            needed("origin", CITY, "City it is sent from."),
            needed("destination", CITY, "City it goes to."),
            optional(
                "service",
                Choice({"standard": ("standard",), "express": ("express",), "economy": ("economy",)}),
                "Kind of delivery.",
                "standard",
                " by {service} delivery",
            ),
        ),
        (
            "calculate the cost of sending {weight_kg} kg from {origin} to {destination}",
            "what does it cost to ship a parcel| of {weight_kg} kg from {origin} to {destination}?",
            "get the shipping cost| for {weight_kg} kg that go from {origin} to {destination}",
        ),
        lists="destination",
        differ=("origin", "destination"),
    ),
    Function(
        "logistics.schedule_pickup",
        "Have parcels picked up at an address.",
        (
            needed("address", _ADDRESS, "Where they are picked up."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            optional("parcels", Whole(2, 12), "Number of parcels.", 1, ", {parcels} parcels"),
        ),
        (
            "schedule a pickup| at {address} on {date}",
            "let the courier come| to {address} on {date}",
            "arrange that a courier picks parcels up| on {date} at {address}",
        ),
    ),
    Function(
        "logistics.plan_route",
        "Shortest route through stops, in any order.",
        (
            needed("stops", Items(TOWN, 3, 5), "Cities on the way, as the user lists them."),
            optional(
                "vehicle",
                Choice({"van": ("van",), "truck": ("truck",), "cargo_bike": ("cargo bike",)}),
                "What drives.",
                "van",
                " with a {vehicle}",
            ),
        ),
        (
            "plan a delivery route| through {stops}",
            "what is the shortest delivery route| over {stops}?",
            "work out a tour for our driver| with stops in {stops}",
        ),
    ),
    Function(
        "logistics.container_load",
        "How full a container gets.",
        (
            needed("boxes", Items(_BOX, 1, 2), "What is loaded."),
            optional(
                "container_ft",
                Choice({"20": ("20",), "40": ("40",)}),
                "Length of the container in feet.",
                "20",
                " in a {container_ft} ft container",
            ),
        ),
        (
            "compute how full a container gets| with {boxes}",
            "check whether this load fits:| {boxes}",
            "work out the load| of {boxes}",
        ),
    ),
    Function(
        "logistics.customs_duty",
        "Customs duty on goods.",
        (
            needed("value", MONEY, "Value of the goods in euros."),
            needed("country", COUNTRY, "Country that they are brought into."),
            needed("goods", Choice({"shoes": (), "toys": (), "tools": (), "ceramics": (), "tea": ()}), "What it is."),
        ),
        (
            "calculate the customs duty on {goods} worth {value} euros going to {country}",
            "how much duty is there| on {goods} of {value} euros brought into {country}?",
            "find the customs duty| for {value} euros of {goods} imported into {country}",
        ),
        lists="country",
    ),
    Function(
        "warehouse.move_stock",
        "Move pieces of an article to another bin.",
        (
            needed("article", Code("A-####"), "Number of the article."),
            needed("quantity", Whole(3, 200), "Number of pieces."),
            needed("source_bin", _BIN, "Bin they are in."),
            needed("target_bin", _BIN, "Bin they go to."),
        ),
        (
            "move {quantity} pieces of {article} from bin {source_bin} to bin {target_bin}",
            "take {quantity} of article {article} out of {source_bin} and put them into {target_bin}",
            "transfer| {quantity} units of {article} to bin {target_bin}, out of {source_bin}",
        ),
        differ=("source_bin", "target_bin"),
    ),
    Function(
        "warehouse.stock_level",
        "Pieces of an article in the warehouse.",
        (
            needed("article", Code("A-####"), "Number of the article."),
            optional(
                "reserved",
                flag("counting reserved pieces", "not counting reserved pieces"),
                "Whether reserved pieces count.",
                False,
                ", {reserved}",
            ),
        ),
        (
            "look up the stock of article| {article}",
            "how many pieces do we have| of article {article}?",
            "check how much is left| of {article}",
        ),
        lists="article",
    ),
)

_CLASS = Choice({"first": ("first",), "second": ("second",)})
_TRAIN = Code("IX ###")
_HOTEL = Phrase(
    words("Blue Golden Old Royal Quiet White"),
    words("Heron Anchor Crown Fox Mill Oak Swan"),
    quoted=False,
)

_TRAVEL = (
    Function(
        "travel.find_trains",
        "Find trains between two cities.",
        (
            needed("origin", CITY, "City of departure."),
            needed("destination", CITY, "City of arrival."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            optional("travel_class", _CLASS, "Class of the carriage.", "second", " in {travel_class} class"),
            optional(
                "direct", flag("without changing", "with changes allowed"), "Only direct trains.", False, ", {direct}"
            ),
        ),
        (
            "find trains from {origin} to {destination} on {date}",
            "which trains go| from {origin} to {destination} on {date}?",
            "look for a train| that takes me to {destination} from {origin} on {date}",
        ),
        lists="date",
        differ=("origin", "destination"),
        foreign={
            "de": "Suche Züge von {origin} nach {destination} am {date}.",
            "fr": "Trouve un train de {origin} à {destination} le {date}.",
            "pt": "Procura um comboio de {origin} para {destination} em {date}.",
        },
    ),
    Function(
        "travel.find_buses",
        "Find long-distance buses between two cities.",
        (
            needed("origin", CITY, "City of departure."),
            needed("destination", CITY, "City of arrival."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
        ),
        (
            "find a long-distance bus| from {origin} to {destination} on {date}",
            "which buses go| from {origin} to {destination} on {date}?",
            "look for a coach| to {destination} from {origin} on {date}",
        ),
        lists="date",
        differ=("origin", "destination"),
    ),
    Function(
        "travel.book_hotel",
        "Book a room in a hotel.",
        (
            needed("hotel", _HOTEL, "Name of the hotel, without the word hotel."),
            needed("check_in", DATE, "Day of arrival, YYYY-MM-DD."),
            needed("nights", FEW, "Number of nights."),
            optional("guests", Whole(2, 5), "Number of guests.", 1, " for {guests} guests"),
            optional(
                "breakfast",
                flag("with breakfast", "without breakfast"),
                "Whether breakfast is included.",
                False,
                ", {breakfast}",
            ),
        ),
        (
            "book a room at the| {hotel} from {check_in} for {nights} nights",
            "reserve {nights} nights at the {hotel} from {check_in} on",
            "get me a room| in the {hotel} hotel, arriving {check_in} and staying {nights} nights",
        ),
        lists="hotel",
    ),
    Function(
        "travel.visa_rules",
        "Visa rules for travellers.",
        (
            needed("nationality", COUNTRY, "Country whose passport the traveller has."),
            needed("destination", COUNTRY, "Country that is visited."),
            optional("days", Whole(20, 120, 10), "Length of the stay.", 14, " for a stay of {days} days"),
        ),
        (
            "look up the visa rules| for someone with a passport of {nationality} going to {destination}",
            "does one need a visa| for {destination} with a passport from {nationality}?",
            "check the visa rules| of {destination} for holders of a passport from {nationality}",
        ),
        lists="destination",
        differ=("nationality", "destination"),
    ),
    Function(
        "travel.flight_status",
        "Whether a flight is on time.",
        (
            needed("flight", Code("@@###"), "Number of the flight without a space."),
            needed("date", DATE, "Day of departure, YYYY-MM-DD."),
        ),
        (
            "check the status of flight| {flight} on {date}",
            "is the flight {flight} of {date} on time?",
            "tell me whether| {flight} is delayed on {date}",
        ),
        lists="flight",
        foreign={
            "de": "Ist der Flug {flight} am {date} pünktlich?",
            "ko": "{date} {flight} 항공편이 정시에 출발하나요?",
            "es": "Consulta el estado del vuelo {flight} del {date}.",
        },
    ),
    Function(
        "travel.rent_car",
        "Rent a car.",
        (
            needed("city", CITY, "City where it is picked up."),
            needed("start", DATE, "First day, YYYY-MM-DD."),
            needed("days", DAYS, "Number of days."),
            needed("category", Choice({"compact": (), "sedan": (), "minibus": (), "convertible": ()}), "Kind of car."),
            optional(
                "extras",
                Items(Word(words("child_seat roof_box snow_chains navigation second_driver")), 1, 3),
                "Extras.",
                [],
                " with these extras: {extras}",
            ),
        ),
        (
            "rent a {category} in {city} from {start} for {days} days",
            "get me a {category} car| for {days} days in {city}, starting on {start}",
            "book a rental car,| category {category}, in {city}, {days} days from {start}",
        ),
    ),
    Function(
        "travel.reserve_seats",
        "Reserve seats on a train.",
        (
            needed("train", _TRAIN, "Number of the train."),
            needed("seats", FEW, "Number of seats."),
            optional("window", flag("at the window", "on the aisle"), "Seats at the window.", True, " {window}"),
        ),
        (
            "reserve {seats} seats on the train {train}",
            "keep {seats} places for us on {train}",
            "get {seats} seat reservations| for {train}",
        ),
        lists="train",
    ),
    Function(
        "travel.lost_luggage",
        "Report luggage that did not arrive.",
        (
            needed("flight", Code("@@###"), "Number of the flight."),
            needed("tag", Code("######"), "Number on the luggage tag."),
        ),
        (
            "report that a suitcase is missing| with the tag {tag} from flight {flight}",
            "file a lost luggage report| for tag {tag}, flight {flight}",
            "report lost luggage| from {flight}, tag number {tag}",
        ),
        lists="tag",
    ),
)

_WEATHER = (
    Function(
        "weather.forecast",
        "Weather of the next days in a city.",
        (
            needed("city", CITY, "Name of the city."),
            needed("days", Whole(2, 10), "Number of days."),
            optional(
                "units",
                Choice({"metric": ("metric",), "imperial": ("imperial",)}),
                "System of units.",
                "metric",
                " in {units} units",
            ),
        ),
        (
            "get the weather forecast for| {city} for the next {days} days",
            "what will the weather be like in| {city} over the next {days} days?",
            "tell me the {days}-day forecast for {city}",
        ),
        lists="city",
        foreign={
            "de": "Wie wird das Wetter in {city} in den nächsten {days} Tagen?",
            "fr": "Quel temps fera-t-il à {city} pendant les {days} prochains jours ?",
            "vi": "Thời tiết ở {city} trong {days} ngày tới như thế nào?",
            "zh": "请查一下{city}未来{days}天的天气预报。",
        },
    ),
    Function(
        "weather.history",
        "Weather of a past day in a city.",
        (needed("city", CITY, "Name of the city."), needed("date", DATE, "The day as YYYY-MM-DD.")),
        (
            "look up in the records what the weather was in| {city} on {date}",
            "what was the weather like in| {city} on {date}?",
            "get the recorded weather of| {city} for {date}",
        ),
        lists="city",
    ),
    Function(
        "weather.air_quality",
        "Present air quality in a city.",
        (
            needed("city", CITY, "Name of the city."),
            optional(
                "pollutants",
                Items(Choice({"ozone": (), "pm10": (), "pm25": (), "no2": ()}), 1, 3),
                "Which pollutants are shown; all if left out.",
                None,
                ", only {pollutants}",
            ),
        ),
        (
            "check the air quality in| {city}",
            "how clean is the air in| {city} right now?",
            "tell me the air quality of| {city}",
        ),
        lists="city",
        foreign={
            "es": "¿Cómo está la calidad del aire en {city}?",
            "de": "Wie ist die Luftqualität in {city}?",
        },
    ),
    Function(
        "weather.subscribe_alerts",
        "Subscribe to weather warnings.",
        (
            needed("city", CITY, "Name of the city."),
            needed("kinds", Items(Choice({"storm": (), "flood": (), "frost": (), "heat": ()}), 1, 3), "Warnings."),
            optional("phone", Code("555-####"), "Number that texts go to.", None, " by text to {phone}"),
        ),
        (
            "subscribe me to warnings of {kinds} for {city}",
            "sign me up for weather warnings| in {city} about {kinds}",
            "set up alerts| for {kinds} in {city}",
        ),
        lists="city",
    ),
    Function(
        "weather.pollen_count",
        "Pollen in the air of a city.",
        (
            needed("city", CITY, "Name of the city."),
            needed("plant", Choice({"birch": (), "grass": (), "hazel": (), "ragweed": ()}), "The plant."),
        ),
        (
            "get the {plant} pollen count in {city}",
            "how much {plant} pollen is in the air| in {city}?",
            "check the pollen| of {plant} in {city}",
        ),
        lists="city",
    ),
    Function(
        "weather.wind_chill",
        "Felt temperature in the wind.",
        (
            needed("temperature", Whole(-25, 8), "Temperature in degrees Celsius."),
            needed("wind_kmh", Whole(10, 90, 5), "Speed of the wind in km/h."),
        ),
        (
            "calculate the wind chill| at {temperature} degrees and a wind of {wind_kmh} km/h",
            "how cold does it feel| at {temperature} degrees in a wind of {wind_kmh} km/h?",
            "work out the felt temperature| for {temperature} degrees with {wind_kmh} km/h of wind",
        ),
    ),
    Function(
        "weather.tides",
        "Times of high and low water.",
        (
            needed("port", Word(words("Bergen Porto Galway Halifax Hobart Nelson Varna Split")), "Name of the port."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
        ),
        (
            "get the tides in| {port} on {date}",
            "when is high and low water in| {port} on {date}?",
            "look up the tide table of| {port} for {date}",
        ),
        lists="port",
    ),
)

FUNCTIONS = (*_FINANCE, *_SHOP, *_LOGISTICS, *_TRAVEL, *_WEATHER)
"""In the order of their domains."""
