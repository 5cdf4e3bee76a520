"""What the starter set tells of the classes of the world: posts, stocks, travel and the car. Our own sentences."""

from __future__ import annotations

from callgym.envs.bfcl.starter.class_documents_form import Document, Parameter, document

__all__ = ["POSTING", "TRADING", "TRAVEL", "VEHICLE"]

_TWEET: Parameter = ("tweet_id", "integer", "Number of the tweet.")
_TWEET_FIELDS = {
    "id": ("integer", "Number of the tweet."),
    "username": ("string", "Who posted it."),
    "content": ("string", "Its text."),
    "tags": ("array of string", "Its hashtags."),
    "mentions": ("array of string", "Who is mentioned."),
}
_SYMBOL: Parameter = ("symbol", "string", "Symbol of the stock.")
_ORDER: Parameter = ("order_id", "integer", "Number of the order.")
_STOCKS: Parameter = ("stocks", "array of string", "Symbols of the stocks.")
_TOKEN: Parameter = ("access_token", "string", "The traveller's access token.")
_CARD: Parameter = ("card_id", "string", "Id of a registered card.")
_BOOKING: Parameter = ("booking_id", "string", "Number of the booking.")
_FROM: Parameter = ("travel_from", "string", "Code of the airport of departure, three letters.")
_TO: Parameter = ("travel_to", "string", "Code of the airport of arrival, three letters.")
_DAY: Parameter = ("travel_date", "string", "The day of the flight, YYYY-MM-DD.")
_CLASS: Parameter = ("travel_class", "string: economy, business, first", "The class.")

POSTING: tuple[Document, ...] = (
    document(
        "authenticate_twitter",
        "Log in to one's account.",
        [("username", "string", "Name of the account."), ("password", "string", "Its password.")],
        {"authentication_status": ("boolean", "Whether it worked.")},
    ),
    document(
        "comment",
        "Comment on a tweet. One must be logged in.",
        [_TWEET, ("comment_content", "string", "The comment.")],
        {"comment_status": ("string", "What was done.")},
    ),
    document(
        "follow_user",
        "Follow an account. One must be logged in.",
        [("username_to_follow", "string", "Name of the account.")],
        {"follow_status": ("boolean", "False where it was followed already.")},
    ),
    document("get_tweet", "Show a tweet.", [_TWEET], _TWEET_FIELDS),
    document(
        "get_tweet_comments",
        "Show the comments on a tweet.",
        [_TWEET],
        {"comments": ("array of dict", "username and content of each.")},
    ),
    document(
        "get_user_stats",
        "Count what an account has posted, passed on and follows.",
        [("username", "string", "Name of the account.")],
        {
            "tweet_count": ("integer", "Tweets."),
            "following_count": ("integer", "Followed accounts; known of one's own account only."),
            "retweet_count": ("integer", "Retweets."),
        },
    ),
    document(
        "get_user_tweets",
        "List an account's tweets, oldest first.",
        [("username", "string", "Name of the account.")],
        {"user_tweets": ("array of dict", "The tweets.")},
    ),
    document(
        "list_all_following",
        "List the accounts that one follows, in the order in which that began. One must be logged in.",
        (),
        {"following_list": ("array of string", "Their names.")},
    ),
    document(
        "mention",
        "Mention accounts in a tweet that exists.",
        [_TWEET, ("mentioned_usernames", "array of string", "Names of the accounts.")],
        {"mention_status": ("string", "What was done.")},
    ),
    document(
        "post_tweet",
        "Post a tweet. One must be logged in.",
        [
            ("content", "string", "Its text."),
            ("tags", "array of string", "Hashtags, written as given, with the # sign.", []),
            ("mentions", "array of string", "Names of accounts to mention, without the @ sign.", []),
        ],
        _TWEET_FIELDS,
    ),
    document(
        "posting_get_login_status",
        "Tell whether one is logged in to one's account.",
        (),
        {"login_status": ("boolean", "Whether one is.")},
    ),
    document(
        "retweet",
        "Pass a tweet on. One must be logged in.",
        [_TWEET],
        {"retweet_status": ("string", "What was done.")},
    ),
    document(
        "search_tweets",
        "Find the tweets whose text contains a word, or that have it as a hashtag.",
        [("keyword", "string", "The word, in upper or lower case.")],
        {"matching_tweets": ("array of dict", "The tweets.")},
    ),
    document(
        "unfollow_user",
        "Follow an account no longer. One must be logged in.",
        [("username_to_unfollow", "string", "Name of the account.")],
        {"unfollow_status": ("boolean", "False where it was not followed.")},
    ),
)

TRADING: tuple[Document, ...] = (
    document(
        "add_to_watchlist",
        "Put a stock on the watch list.",
        [("stock", "string", "Symbol of the stock.")],
        {"watchlist": ("array of string", "The watch list as it is then.")},
    ),
    document(
        "cancel_order",
        "Cancel an order that is not completed.",
        [_ORDER],
        {"order_id": ("integer", "Number of the order."), "status": ("string", "Its status then.")},
    ),
    document(
        "filter_stocks_by_price",
        "Choose those of some stocks whose price lies between two.",
        [
            _STOCKS,
            ("min_price", "float", "The lowest price, included."),
            ("max_price", "float", "The highest price, included."),
        ],
        {"filtered_stocks": ("array of string", "Their symbols.")},
    ),
    document(
        "fund_account",
        "Pay money into the account. One must be logged in.",
        [("amount", "float", "Dollars.")],
        {"status": ("string", "What was done."), "new_balance": ("float", "The balance then.")},
    ),
    document(
        "get_account_info",
        "Show the account. One must be logged in.",
        (),
        {
            "account_id": ("integer", "Number of the account."),
            "balance": ("float", "Dollars in it."),
            "binding_card": ("integer", "Number of the card that belongs to it."),
        },
    ),
    document(
        "get_available_stocks",
        "List the stocks of a sector.",
        [("sector", "string", "Technology, Automobile, Energy, Health or Retail.")],
        {"stock_list": ("array of string", "Their symbols.")},
    ),
    document(
        "get_current_time",
        "Tell the time at the exchange.",
        (),
        {"current_time": ("string", "Hour and minute.")},
    ),
    document(
        "get_order_details",
        "Show an order.",
        [_ORDER],
        {
            "id": ("integer", "Number of the order."),
            "order_type": ("string", "Buy or Sell."),
            "symbol": ("string", "Symbol of the stock."),
            "price": ("float", "Dollars a share."),
            "amount": ("integer", "Shares."),
            "status": ("string", "Open, Pending, Completed or Cancelled."),
        },
    ),
    document(
        "get_order_history",
        "List the numbers of all orders, oldest first. One must be logged in.",
        (),
        {"history": ("array of integer", "The numbers.")},
    ),
    document(
        "get_stock_info",
        "Show the market's figures for a stock.",
        [_SYMBOL],
        {
            "price": ("float", "Dollars a share."),
            "percent_change": ("float", "Change of the day in per cent."),
            "volume": ("float", "Shares traded, in millions."),
            "MA(5)": ("float", "Mean price of 5 days."),
            "MA(20)": ("float", "Mean price of 20 days."),
        },
    ),
    document(
        "get_symbol_by_name",
        "Look up the symbol of a company's stock.",
        [("name", "string", "The company's name.")],
        {"symbol": ("string", "The symbol.")},
    ),
    document(
        "get_transaction_history",
        "List payments into and out of the account. One must be logged in.",
        [
            ("start_date", "string", "First day, YYYY-MM-DD.", None),
            ("end_date", "string", "Last day, YYYY-MM-DD.", None),
        ],
        {"transaction_history": ("array of dict", "type, amount and timestamp of each.")},
    ),
    document(
        "get_watchlist",
        "Show the watch list. One must be logged in.",
        (),
        {"watchlist": ("array of string", "The symbols on it.")},
    ),
    document(
        "notify_price_change",
        "Tell which of some stocks have moved today by at least so many per cent, up or down.",
        [_STOCKS, ("threshold", "float", "Per cent.")],
        {"notification": ("string", "The answer in words.")},
    ),
    document(
        "place_order",
        "Place an order for shares. One must be logged in.",
        [
            ("order_type", "string: Buy, Sell", "Whether to buy or to sell."),
            _SYMBOL,
            ("price", "float", "Dollars a share."),
            ("amount", "integer", "Shares."),
        ],
        {
            "order_id": ("integer", "Number of the order."),
            "order_type": ("string", "Buy or Sell."),
            "status": ("string", "Its status."),
            "price": ("float", "Dollars a share."),
            "amount": ("integer", "Shares."),
        },
    ),
    document(
        "remove_stock_from_watchlist",
        "Take a stock off the watch list. One must be logged in.",
        [_SYMBOL],
        {"status": ("string", "What was done.")},
    ),
    document(
        "trading_get_login_status",
        "Tell whether one is logged in to the account.",
        (),
        {"status": ("boolean", "Whether one is.")},
    ),
    document(
        "trading_login",
        "Log in to the account.",
        [("username", "string", "Name of the user."), ("password", "string", "The user's password.")],
        {"status": ("string", "What was done.")},
    ),
    document("trading_logout", "Log out of the account.", (), {"status": ("string", "What was done.")}),
    document(
        "withdraw_funds",
        "Take money out of the account. One must be logged in, and the market open.",
        [("amount", "float", "Dollars.")],
        {"status": ("string", "What was done."), "new_balance": ("float", "The balance then.")},
    ),
)

TRAVEL: tuple[Document, ...] = (
    document(
        "authenticate_travel",
        "Log a traveller in; the answer holds the access token that most other functions ask for.",
        [
            ("client_id", "string", "Id of the client."),
            ("client_secret", "string", "Secret of the client."),
            ("refresh_token", "string", "The refresh token."),
            ("grant_type", "string", "What the token may be used for, such as read or read_write."),
            ("user_first_name", "string", "The traveller's first name."),
            ("user_last_name", "string", "The traveller's last name."),
        ],
        {
            "expires_in": ("integer", "How long the token lasts."),
            "access_token": ("string", "The token."),
            "token_type": ("string", "Its type."),
            "scope": ("string", "What it may be used for."),
        },
    ),
    document(
        "book_flight",
        "Book a flight and pay for it with a card. The card must hold the price, and no less than the budget limit.",
        [_TOKEN, _CARD, _DAY, _FROM, _TO, _CLASS],
        {
            "booking_id": ("string", "Number of the booking."),
            "transaction_id": ("string", "Number of the payment."),
            "booking_status": ("boolean", "Whether it was booked."),
            "booking_history": ("dict", "Bookings, where they are shown."),
        },
    ),
    document(
        "cancel_booking",
        "Cancel a booking; the card gets its price back.",
        [_TOKEN, _BOOKING],
        {"cancel_status": ("boolean", "Whether it was cancelled.")},
    ),
    document(
        "compute_exchange_rate",
        "Convert an amount of money; one of the two currencies is USD.",
        [
            ("base_currency", "string", "Currency of the amount, three letters."),
            ("target_currency", "string", "The currency that is wanted, three letters."),
            ("value", "float", "The amount."),
        ],
        {"exchanged_value": ("float", "The amount in the currency that is wanted.")},
    ),
    document(
        "contact_customer_support",
        "Write to the support about a booking.",
        [_BOOKING, ("message", "string", "The text.")],
        {"customer_support_message": ("string", "What the support answers.")},
    ),
    document(
        "get_all_credit_cards",
        "Show all registered cards.",
        (),
        {"credit_card_list": ("dict", "Card's id to its number, expiry, holder and balance.")},
    ),
    document(
        "get_booking_history",
        "Show all bookings.",
        [_TOKEN],
        {"booking_history": ("dict", "Booking's number to its day, airports, class, price and card.")},
    ),
    document(
        "get_budget_fiscal_year",
        "Tell the fiscal year of the budget.",
        [
            ("lastModifiedAfter", "string", "Only years that were changed after this day, YYYY-MM-DD.", None),
            ("includeRemoved", "string", "Whether removed years count, too.", None),
        ],
        {"budget_fiscal_year": ("string", "The year.")},
    ),
    document(
        "get_credit_card_balance",
        "Tell how much money a card holds.",
        [_TOKEN, _CARD],
        {"card_balance": ("float", "Dollars.")},
    ),
    document(
        "get_flight_cost",
        "Tell what a flight costs in dollars.",
        [_FROM, _TO, _DAY, _CLASS],
        {"travel_cost_list": ("array of float", "The price.")},
    ),
    document(
        "get_nearest_airport_by_city",
        "Look up the airport of a city.",
        [("location", "string", "Name of the city.")],
        {"nearest_airport": ("string", "The airport's code.")},
    ),
    document(
        "list_all_airports",
        "List the codes of all airports.",
        (),
        {"airports": ("array of string", "The codes.")},
    ),
    document(
        "purchase_insurance",
        "Insure a booking and pay for it with a card. The price may not exceed the budget limit.",
        [
            _TOKEN,
            ("insurance_type", "string", "What is insured."),
            _BOOKING,
            ("insurance_cost", "float", "Dollars."),
            _CARD,
        ],
        {
            "insurance_id": ("string", "Number of the insurance."),
            "insurance_status": ("boolean", "Whether the booking is insured."),
        },
    ),
    document(
        "register_credit_card",
        "Register a card; it gets an id.",
        [
            _TOKEN,
            ("card_number", "string", "Number of the card."),
            ("expiration_date", "string", "Until when it is valid, MM/YYYY."),
            ("cardholder_name", "string", "Whose card it is."),
            ("card_verification_number", "integer", "The number on its back."),
        ],
        {"card_id": ("string", "The card's id.")},
    ),
    document(
        "retrieve_invoice",
        "Show the invoice of a booking.",
        [
            _TOKEN,
            ("booking_id", "string", "Number of the booking.", None),
            ("insurance_id", "string", "Number of its insurance.", None),
        ],
        {"invoice": ("dict", "Day, airports, class, price and payment of the booking.")},
    ),
    document(
        "set_budget_limit",
        "Set how much may be spent.",
        [_TOKEN, ("budget_limit", "float", "Dollars.")],
        {"budget_limit": ("float", "The limit then.")},
    ),
    document(
        "travel_get_login_status",
        "Tell whether a traveller is logged in.",
        (),
        {"status": ("boolean", "Whether one is.")},
    ),
    document(
        "verify_traveler_information",
        "Check that a traveller is the one who is logged in, is of age and has a passport that is accepted.",
        [
            ("first_name", "string", "First name."),
            ("last_name", "string", "Last name."),
            ("date_of_birth", "string", "Day of birth, YYYY-MM-DD."),
            ("passport_number", "string", "Number of the passport."),
        ],
        {
            "verification_status": ("boolean", "Whether all is in order."),
            "verification_failure": ("string", "What is not, where something is not."),
        },
    ),
)

VEHICLE: tuple[Document, ...] = (
    document(
        "activateParkingBrake",
        "Engage or release the parking brake.",
        [("mode", "string: engage, release", "What to do.")],
        {
            "parkingBrakeStatus": ("string", "engaged or released."),
            "_parkingBrakeForce": ("float", "Newtons."),
            "_slopeAngle": ("float", "Degrees."),
        },
    ),
    document(
        "adjustClimateControl",
        "Set temperature, fan and mode of the climate control; what is not given goes back to its default.",
        [
            ("temperature", "float", "The temperature."),
            ("unit", "string: celsius, fahrenheit", "Its unit.", "celsius"),
            ("fanSpeed", "integer", "Speed of the fan, 0 to 100.", 50),
            ("mode", "string: auto, cool, heat, defrost", "The mode.", "auto"),
        ],
        {
            "currentACTemperature": ("float", "The temperature that is set."),
            "climateMode": ("string", "The mode."),
            "humidityLevel": ("float", "Humidity in per cent."),
        },
    ),
    document(
        "check_tire_pressure",
        "Measure the pressure of the four tyres in psi.",
        (),
        {
            "frontLeftTirePressure": ("float", "Front left."),
            "frontRightTirePressure": ("float", "Front right."),
            "rearLeftTirePressure": ("float", "Rear left."),
            "rearRightTirePressure": ("float", "Rear right."),
            "healthy_tire_pressure": ("boolean", "Whether their mean is as it should be."),
            "car_info": ("dict", "More on the car, where it is shown."),
        },
    ),
    document(
        "displayCarStatus",
        "Show one part of the car's status.",
        [
            (
                "option",
                "string: fuel, battery, doors, climate, headlights, parkingBrake, brakePedal, engine",
                "Which part.",
            )
        ],
        {"status": ("dict", "What is shown of it.")},
    ),
    document(
        "display_log",
        "Show messages on the car's display.",
        [("messages", "array of string", "The messages.")],
        {"log": ("array of string", "The messages.")},
    ),
    document(
        "estimate_distance",
        "Estimate the distance between two cities.",
        [
            ("cityA", "string", "Zip code of the first city."),
            ("cityB", "string", "Zip code of the second city."),
        ],
        {
            "distance": ("float", "Miles."),
            "intermediaryCities": ("array of string", "Towns on the way, where they are shown."),
        },
    ),
    document(
        "estimate_drive_feasibility_by_mileage",
        "Tell whether the fuel in the tank lasts for a distance.",
        [("distance", "float", "Miles.")],
        {"canDrive": ("boolean", "Whether it does.")},
    ),
    document(
        "fillFuelTank",
        "Add fuel. The tank holds 60 gallons; more than fits is refused.",
        [("fuelAmount", "float", "Gallons to add.")],
        {"fuelLevel": ("float", "Gallons in the tank then.")},
    ),
    document(
        "find_nearest_tire_shop",
        "Find the nearest shop for tyres.",
        (),
        {"shopLocation": ("string", "Its address.")},
    ),
    document(
        "gallon_to_liter",
        "Convert gallons to litres.",
        [("gallon", "float", "Gallons.")],
        {"liter": ("float", "Litres.")},
    ),
    document(
        "get_current_speed",
        "Measure how fast the car drives.",
        (),
        {"currentSpeed": ("float", "Kilometres an hour.")},
    ),
    document(
        "get_outside_temperature_from_google",
        "Ask Google for the temperature outside.",
        (),
        {"outsideTemperature": ("float", "Degrees Celsius.")},
    ),
    document(
        "get_outside_temperature_from_weather_com",
        "Ask weather.com for the temperature outside.",
        (),
        {"outsideTemperature": ("float", "Degrees Celsius.")},
    ),
    document(
        "get_zipcode_based_on_city",
        "Look up a city's zip code.",
        [("city", "string", "Name of the city.")],
        {"zipcode": ("string", "The zip code.")},
    ),
    document(
        "liter_to_gallon",
        "Convert litres to gallons.",
        [("liter", "float", "Litres.")],
        {"gallon": ("float", "Gallons.")},
    ),
    document(
        "lockDoors",
        "Lock or unlock doors.",
        [
            ("unlock", "boolean", "True to unlock them, false to lock them."),
            ("door", "array of string", "Which doors: driver, passenger, rear_left, rear_right."),
        ],
        {
            "lockStatus": ("string", "locked or unlocked."),
            "remainingUnlockedDoors": ("integer", "How many doors are unlocked then."),
        },
    ),
    document(
        "pressBrakePedal",
        "Press the brake pedal; it stays pressed until it is released.",
        [("pedalPosition", "float", "How far: 1 is all the way down, 0 not at all.")],
        {
            "brakePedalStatus": ("string", "pressed or released."),
            "brakePedalForce": ("float", "Newtons."),
        },
    ),
    document(
        "releaseBrakePedal",
        "Release the brake pedal.",
        (),
        {
            "brakePedalStatus": ("string", "released."),
            "brakePedalForce": ("float", "Newtons."),
        },
    ),
    document(
        "setCruiseControl",
        "Turn the cruise control on or off. The engine must run.",
        [
            ("speed", "float", "Miles an hour: 0 to 120, in steps of 5."),
            ("activate", "boolean", "Whether to turn it on."),
            ("distanceToNextVehicle", "float", "Metres to keep to the vehicle in front."),
        ],
        {
            "cruiseStatus": ("string", "active or inactive."),
            "currentSpeed": ("float", "Miles an hour."),
            "distanceToNextVehicle": ("float", "Metres."),
        },
    ),
    document(
        "setHeadlights",
        "Turn the headlights on or off.",
        [("mode", "string: on, off, auto", "What to do.")],
        {"headlightStatus": ("string", "on or off.")},
    ),
    document(
        "set_navigation",
        "Set the destination of the navigation.",
        [("destination", "string", "The destination.")],
        {"status": ("string", "What was done.")},
    ),
    document(
        "startEngine",
        "Start the engine. All doors must be locked and the brake pedal pressed all the way down.",
        [("ignitionMode", "string: START, STOP", "What to do.")],
        {
            "engineState": ("string", "running or stopped."),
            "fuelLevel": ("float", "Gallons in the tank."),
            "batteryVoltage": ("float", "Volts."),
        },
    ),
)
