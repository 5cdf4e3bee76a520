"""Errands about money, shops, parcels and stock."""

from __future__ import annotations

from callgym.envs.when2call.starter.errand_model import Errand, Gap

__all__ = ["ERRANDS"]

_MONEY = (
    Errand(
        "finance.exchange",
        "look up exchange rates",
        (
            "{amount} {source} come to {many} {target} at the present rate.",
            "You would get about {many} {target} for {amount} {source}.",
        ),
        (
            Gap(
                "target",
                "the target currency",
                (
                    "change {amount} {source} into the other currency",
                    "how much are {amount} {source} in the other currency?",
                    "tell me the worth of {amount} {source} in the other currency",
                ),
                "The currency of the user's account if left out.",
            ),
            Gap(
                "source",
                "the source currency, the one that the money is in",
                (
                    "change {amount} into {target}",
                    "how much are {amount} in {target}?",
                    "tell me the worth of {amount} in {target}",
                ),
                "The currency of the user's account if left out.",
            ),
            Gap(
                "amount",
                "the amount of money",
                (
                    "change {source} into {target}",
                    "how much are {source} in {target}?",
                    "tell me the worth of {source} in {target}",
                ),
                default=1,
            ),
            Gap("date", "the date of the rate"),
        ),
    ),
    Errand(
        "finance.portfolio_value",
        "value portfolios",
        (
            "With {holdings} your depot is worth {many} at today's prices.",
            "{holdings}: together that makes {many} at present.",
        ),
        (
            Gap("currency", "the currency of the result"),
            Gap(
                "holdings",
                "the holdings, how many shares of what",
                (
                    "value my portfolio",
                    "what is my portfolio worth?",
                    "work out what all my shares are worth together",
                    "tell me the present value of my depot",
                ),
                "The user's own depot if left out.",
            ),
        ),
    ),
    Errand(
        "finance.loan_payment",
        "work out loan payments",
        (
            "A loan of {amount} at {rate_percent}% over {years} years costs you {many} a month.",
            "You pay {many} each month for {amount} over {years} years.",
        ),
        (
            Gap(
                "years",
                "the number of years that the loan runs",
                (
                    "compute the monthly payment for a loan of {amount} at {rate_percent}%",
                    "what do I pay a month for a loan of {amount} at {rate_percent}%?",
                    "find the monthly rate of a loan, {amount} at {rate_percent}% a year",
                ),
                default=10,
            ),
            Gap(
                "rate_percent",
                "the interest rate in percent",
                (
                    "compute the monthly payment for a loan of {amount} over {years} years",
                    "what do I pay a month for a loan of {amount} that runs {years} years?",
                    "find the monthly rate of a loan over {years} years, {amount} in all",
                ),
                "The bank's rate of today if left out.",
            ),
        ),
        thinkable=True,
    ),
    Errand(
        "finance.compound_interest",
        "work out compound interest",
        (
            "After {years} years {principal} have grown to {many} at {rate_percent}%.",
            "{principal} at {rate_percent}% become {many} in {years} years.",
        ),
        (
            Gap(
                "years",
                "the number of years",
                (
                    "calculate what {principal} at {rate_percent}% compound interest grows to",
                    "with compound interest, what becomes of {principal} at {rate_percent}% a year?",
                    "work out the final amount, compound interest included, of {principal} at {rate_percent}%",
                ),
                default=1,
            ),
            Gap(
                "principal",
                "the principal, the amount invested",
                (
                    "calculate what my savings at {rate_percent}% compound interest grow to in {years} years",
                    "with compound interest, what becomes of my money at {rate_percent}% a year after {years} years?",
                    "work out the final amount, compound interest included, after {years} years at {rate_percent}%",
                ),
                "The balance of the user's account if left out.",
            ),
        ),
        thinkable=True,
    ),
    Errand(
        "finance.break_even",
        "work out break-even points",
        (
            "You break even after {many} units.",
            "With fixed costs of {fixed_costs} you need to sell {many} units at {price}.",
        ),
        (
            Gap(
                "unit_cost",
                "the unit cost, what one piece costs to make",
                (
                    "find the break-even point for fixed costs of {fixed_costs} and a price of {price}",
                    "how many units must I sell to break even if fixed costs are {fixed_costs} and each sells for "
                    "{price}?",
                    "calculate when a product breaks even that sells for {price} and has {fixed_costs} in fixed costs",
                ),
                "The cost in the product's sheet if left out.",
            ),
            Gap(
                "price",
                "the price of a unit",
                (
                    "find the break-even point for fixed costs of {fixed_costs} and unit costs of {unit_cost}",
                    "how many units must I sell to break even if fixed costs are {fixed_costs} and each costs "
                    "{unit_cost} to make?",
                    "calculate when a product breaks even that costs {unit_cost} to make and has {fixed_costs} in "
                    "fixed costs",
                ),
                "The price in the product's sheet if left out.",
            ),
        ),
        thinkable=True,
    ),
)

_SHOP = (
    Errand(
        "shop.search_products",
        "search the shop",
        (
            "The shop has {few} articles for {query}, the cheapest at {some}.",
            "A {query} is on sale for {some} this week.",
        ),
        (
            Gap("max_price", "the highest price that you would pay, the max price"),
            Gap("colour", "the colour that you like"),
            Gap(
                "query",
                "the query, what the shop is to be searched for",
                (
                    "search the shop",
                    "look around in the shop for me",
                    "show me what the shop sells",
                    "list what one can buy in the shop",
                ),
                "All products if left out.",
            ),
        ),
    ),
    Errand(
        "shop.place_order",
        "place orders",
        (
            "Ordered: {lines}. Delivery is on the way.",
            "Your order of {lines} has been placed and costs {many}.",
        ),
        (
            Gap("express", "whether it should be delivered by express"),
            Gap(
                "lines",
                "the order lines, which articles and how many of each",
                (
                    "place my order",
                    "send my order off",
                    "order what I need from the shop",
                    "buy the things I need in the shop",
                ),
                "What lies in the user's cart if left out.",
            ),
        ),
    ),
    Errand(
        "shop.return_article",
        "announce returns",
        (
            "The return of the {article} from {order_id} is announced; keep the number R{many}.",
            "Your {article} of order {order_id} can go back; the label is in your mailbox.",
        ),
        (
            Gap(
                "reason",
                "the reason for the return",
                (
                    "return the {article} of order {order_id}",
                    "send back the {article} from {order_id}",
                    "announce a return for order {order_id}: the {article}",
                ),
                "No reason is stated if left out.",
            ),
            Gap(
                "order_id",
                "the order id",
                (
                    "return the {article} because {reason}",
                    "I want to send back the {article} since {reason}; please announce it.",
                    "announce a return: the {article}, as {reason}",
                ),
                "The user's latest order with the article if left out.",
            ),
            Gap(
                "article",
                "the article that goes back",
                (
                    "return something from order {order_id} because {reason}",
                    "I want to send back what I got with {order_id} since {reason}; please announce it.",
                    "announce a return for order {order_id}, as {reason}",
                ),
                "The whole order if left out.",
            ),
        ),
    ),
    Errand(
        "shop.apply_voucher",
        "apply vouchers",
        (
            "The voucher {code} took {some} off the cart {cart_id}.",
            "{code} is redeemed; the cart {cart_id} now costs {many}.",
        ),
        (
            Gap(
                "code",
                "the code of the voucher",
                (
                    "apply my voucher to cart {cart_id}",
                    "use a voucher on the cart {cart_id}",
                    "redeem the voucher for the cart {cart_id}",
                ),
                "The best voucher of the user's account if left out.",
            ),
            Gap(
                "cart_id",
                "the id of the cart",
                (
                    "apply the voucher {code} to my cart",
                    "use my voucher {code} on the cart",
                    "redeem {code}",
                ),
                "The open cart if left out.",
            ),
        ),
    ),
    Errand(
        "shop.compare_prices",
        "compare prices in shops",
        (
            "Out of {shops}, the first has the {article} for {some} and is the cheapest.",
            "A {article} costs between {some} and {many} at {shops}.",
        ),
        (
            Gap(
                "shops",
                "the shops to compare",
                (
                    "compare the price of a {article} in different shops",
                    "where is a {article} cheapest?",
                    "check what a {article} costs in the shops",
                ),
                "All known shops if left out.",
            ),
            Gap(
                "article",
                "the article to compare",
                (
                    "compare prices at {shops}",
                    "where is it cheapest out of {shops}?",
                    "check what it costs at {shops}",
                ),
                "The article that the user looked at last if left out.",
            ),
            Gap("with_shipping", "whether shipping should be included"),
        ),
    ),
    Errand(
        "shop.cancel_order",
        "cancel orders",
        (
            "The order {order_id} is cancelled and your money is on its way back.",
            "Done, {order_id} has been stopped before it left the warehouse.",
        ),
        (
            Gap(
                "order_id",
                "the order id",
                (
                    "cancel my order",
                    "stop my order",
                    "call off the order that I placed",
                    "cancel what I ordered",
                ),
                "The user's latest order if left out.",
            ),
        ),
    ),
    Errand(
        "shop.rate_article",
        "rate products",
        (
            "Your rating of {stars} stars for the {article} is online.",
            "The {article} now has {stars} stars from you, thank you.",
        ),
        (
            Gap(
                "stars",
                "the number of stars",
                (
                    "rate the {article}",
                    "leave a rating for the {article}",
                    "give the {article} a rating",
                ),
                default=5,
            ),
            Gap(
                "article",
                "the article that you rate",
                (
                    "rate it with {stars} stars in the shop",
                    "leave a rating of {stars} stars in the shop",
                    "give my purchase a rating of {stars} out of 5",
                ),
                "The article bought last if left out.",
            ),
        ),
    ),
)

_PARCELS = (
    Errand(
        "logistics.track_parcel",
        "track parcels",
        (
            "The parcel {code} is in the van and arrives at {clock}.",
            "{code} left the depot {few} hours ago.",
        ),
        (
            Gap(
                "code",
                "the code on the label",
                (
                    "track my parcel",
                    "where is my parcel?",
                    "see where the parcel is",
                    "find out how far my parcel has come",
                ),
                "All parcels on their way to the user if left out.",
            ),
        ),
    ),
    Errand(
        "logistics.shipping_cost",
        "look up shipping costs",
        (
            "Sending {weight_kg} kg from {origin} to {destination} costs {some} euros.",
            "The parcel of {weight_kg} kg to {destination} comes to {some} euros.",
        ),
        (
            Gap(
                "weight_kg",
                "the weight of the parcel in kg",
                (
                    "calculate the cost of sending a parcel from {origin} to {destination}",
                    "what does it cost to ship a parcel from {origin} to {destination}?",
                    "get the shipping cost for a parcel that goes from {origin} to {destination}",
                ),
                default=1,
            ),
            Gap(
                "destination",
                "the destination of the parcel",
                (
                    "calculate the cost of sending {weight_kg} kg from {origin}",
                    "what does it cost to ship a parcel of {weight_kg} kg from {origin}?",
                    "get the shipping cost for {weight_kg} kg that leave from {origin}",
                ),
                "A table of all countries is given if left out.",
            ),
            Gap(
                "origin",
                "the origin, the city it is sent from",
                (
                    "calculate the cost of sending {weight_kg} kg to {destination}",
                    "what does it cost to ship a parcel of {weight_kg} kg to {destination}?",
                    "get the shipping cost for {weight_kg} kg that go to {destination}",
                ),
                "The place where the user is if left out.",
            ),
            Gap("service", "the service: standard, express or economy"),
        ),
    ),
    Errand(
        "logistics.schedule_pickup",
        "have parcels picked up",
        (
            "A courier comes to {address} on {date} at {clock}.",
            "The pickup at {address} on {date} is arranged.",
        ),
        (
            Gap(
                "date",
                "the date of the pickup",
                (
                    "schedule a pickup at {address}",
                    "let the courier come to {address}",
                    "arrange that a courier picks parcels up at {address}",
                ),
                "The next working day if left out.",
            ),
            Gap(
                "address",
                "the address of the pickup",
                (
                    "schedule a pickup on {date}",
                    "let the courier come on {date}",
                    "arrange that a courier picks parcels up on {date}",
                ),
                "The user's own address if left out.",
            ),
            Gap("parcels", "the number of parcels"),
        ),
    ),
    Errand(
        "logistics.plan_route",
        "plan delivery routes",
        (
            "The shortest tour over {stops} is {many} km long.",
            "Drive {stops} in that order; it takes {few} hours.",
        ),
        (
            Gap("vehicle", "the vehicle that drives"),
            Gap(
                "stops",
                "the stops on the way",
                (
                    "plan the delivery route",
                    "what is the shortest delivery route?",
                    "work out a tour for our driver",
                    "plan a round for the deliveries",
                ),
                "The addresses of today's deliveries if left out.",
            ),
        ),
    ),
    Errand(
        "logistics.customs_duty",
        "look up customs duty",
        (
            "The duty on {goods} worth {value} euros going to {country} is {some} euros.",
            "{country} charges {few} percent on {goods}.",
        ),
        (
            Gap(
                "country",
                "the country that the goods go to",
                (
                    "calculate the customs duty on {goods} worth {value} euros",
                    "how much duty is there on {goods} of {value} euros?",
                    "find the customs duty for {value} euros of {goods}",
                ),
                "The user's own country if left out.",
            ),
            Gap(
                "goods",
                "the kind of goods",
                (
                    "calculate the customs duty on a delivery worth {value} euros going to {country}",
                    "how much duty is there on something of {value} euros brought into {country}?",
                    "find the customs duty for a purchase of {value} euros imported into {country}",
                ),
                "The general rate is taken if left out.",
            ),
            Gap(
                "value",
                "the value of the goods",
                (
                    "calculate the customs duty on {goods} going to {country}",
                    "how much duty is there on {goods} brought into {country}?",
                    "find the customs duty for {goods} imported into {country}",
                ),
                "The rate in percent is given if left out.",
            ),
        ),
    ),
    Errand(
        "logistics.container_load",
        "work out container loads",
        (
            "With {boxes} the container is {some} percent full.",
            "{boxes} leave a little room at the top.",
        ),
        (
            Gap("container_ft", "the container's length in feet (ft), 20 or 40"),
            Gap(
                "boxes",
                "the boxes, their size and number",
                (
                    "compute how full the container gets",
                    "check whether our load fits into the container",
                    "work out the load of the container",
                    "see how full our container will be",
                ),
                "The boxes of the open shipment if left out.",
            ),
        ),
        thinkable=True,
    ),
    Errand(
        "warehouse.move_stock",
        "move stock between bins",
        (
            "{quantity} pieces of {article} now lie in bin {target_bin}.",
            "Moved: {quantity} of {article} went out of {source_bin} and into {target_bin}.",
        ),
        (
            Gap(
                "quantity",
                "the quantity to move",
                (
                    "move article {article} from bin {source_bin} to bin {target_bin}",
                    "take article {article} out of {source_bin} and put it into {target_bin}",
                    "transfer {article} to bin {target_bin}, out of {source_bin}",
                ),
                "All pieces in the bin if left out.",
            ),
            Gap(
                "target_bin",
                "the target bin",
                (
                    "move {quantity} pieces of {article} out of bin {source_bin}",
                    "take {quantity} of article {article} out of {source_bin} and put them somewhere else",
                    "transfer {quantity} units of {article} to another bin, out of {source_bin}",
                ),
                "Any free bin if left out.",
            ),
            Gap(
                "source_bin",
                "the source bin",
                (
                    "move {quantity} pieces of {article} to bin {target_bin}",
                    "take {quantity} of article {article} and put them into {target_bin}",
                    "transfer {quantity} units of {article} to bin {target_bin}",
                ),
                "The fullest bin of the article if left out.",
            ),
        ),
    ),
    Errand(
        "warehouse.stock_level",
        "look up stock",
        (
            "There are {many} pieces of {article} left.",
            "Article {article} is down to {some} pieces.",
        ),
        (
            Gap("reserved", "whether reserved pieces should count"),
            Gap(
                "article",
                "the number of the article",
                (
                    "look up the stock of the article",
                    "how many pieces do we have in the warehouse?",
                    "check how much is left in the warehouse",
                    "find out how many pieces are still in stock at the warehouse",
                ),
                "All articles if left out.",
            ),
        ),
    ),
)

ERRANDS = (*_MONEY, *_SHOP, *_PARCELS)
"""In the order of their domains."""
