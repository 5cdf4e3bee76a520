"""Functions for units, geometry, astronomy, chemistry and statistics."""

from __future__ import annotations

from callgym.envs.bfcl.starter.functions_model import Function, needed, optional
from callgym.envs.bfcl.starter.functions_pools import CITY, DATE, LENGTH_UNIT, TIME, flag, words
from callgym.envs.bfcl.starter.functions_values import (
    Choice,
    Field,
    Items,
    OneOf,
    Points,
    Real,
    Record,
    Whole,
    Word,
)

__all__ = ["FUNCTIONS"]

_MASS = Choice(
    {
        "mg": ("milligrams", "mg"),
        "g": ("grams",),
        "kg": ("kilograms", "kg"),
        "t": ("tonnes",),
        "oz": ("ounces",),
        "lb": ("pounds",),
        "st": ("stone",),
    }
)
_VOLUME = Choice(
    {
        "ml": ("millilitres", "ml"),
        "l": ("litres",),
        "pt": ("pints",),
        "gal": ("gallons",),
        "cup": ("cups",),
        "tbsp": ("tablespoons",),
    }
)
_DEGREES = Choice({name: (f"degrees {name.title()}", name.title()) for name in ("celsius", "fahrenheit", "kelvin")})
_SPEED = Choice(
    {
        "kmh": ("kilometres per hour", "km/h"),
        "ms": ("metres per second", "m/s"),
        "mph": ("miles per hour", "mph"),
        "kn": ("knots",),
    }
)
_BIG = Real(2, 900, 1)
_SIDE = Real(2, 60, 1)
_DIGITS = optional(
    "digits",
    Whole(1, 6),
    "Decimal places of the result.",
    2,
    ", to {digits} decimal places",
    ", rounded to {digits} decimal places",
)
_SMALL_UNIT = optional(
    "unit",
    Choice({"mm": ("millimetres", "mm"), "cm": ("centimetres", "cm"), "m": ("metres",)}),
    "Unit that all lengths are given in.",
    "cm",
    ", all in {unit}",
)
_POINT = Items(Real(-40, 40, 1), 2, 2, declared="tuple")
_SERIES = Items(Real(3, 90, 1), 4, 6)

_UNITS = (
    Function(
        "units.convert_length",
        "Convert a length from one unit to another.",
        (
            needed("value", _BIG, "The length."),
            needed("source", LENGTH_UNIT, "Unit of the given length."),
            needed("target", LENGTH_UNIT, "Unit of the result."),
            _DIGITS,
        ),
        (
            "convert {value} {source} to {target}",
            "how many {target} are| {value} {source}?",
            "work out| what {value} {source} is in {target}",
            "express| {value} {source} in {target}",
        ),
        lists="target",
        differ=("source", "target"),
        foreign={
            "de": "Rechne bitte {value} {source} in {target} um.",
            "es": "¿Cuánto son {value} {source} en {target}?",
            "fr": "Convertis {value} {source} en {target}, s'il te plaît.",
        },
    ),
    Function(
        "units.convert_mass",
        "Convert a mass or weight from one unit to another.",
        (
            needed("value", _BIG, "The mass."),
            needed("source", _MASS, "Unit of the given mass."),
            needed("target", _MASS, "Unit of the result."),
            _DIGITS,
        ),
        (
            "convert a weight of| {value} {source} to {target}",
            "how many {target} does a thing of {value} {source} weigh?",
            "give me the mass| {value} {source} in {target}",
        ),
        lists="target",
        differ=("source", "target"),
    ),
    Function(
        "units.convert_volume",
        "Convert a volume of liquid from one unit to another.",
        (
            needed("amount", _BIG, "The volume."),
            needed("source", _VOLUME, "Unit of the given volume."),
            needed("target", _VOLUME, "Unit of the result."),
        ),
        (
            "convert| {amount} {source} of water to {target}",
            "how many {target} do {amount} {source} of milk make?",
            "turn| {amount} {source} of liquid into {target}",
        ),
        lists="target",
        differ=("source", "target"),
    ),
    Function(
        "units.convert_temperature",
        "Convert a temperature between scales.",
        (
            needed("degrees", Real(2, 320, 1), "The temperature."),
            needed("source", _DEGREES, "Scale of the given temperature."),
            needed("target", _DEGREES, "Scale of the result."),
        ),
        (
            "convert a temperature of| {degrees} {source} to {target}",
            "what is a temperature of {degrees} {source} in {target}?",
            "translate| a reading of {degrees} {source} into {target}",
        ),
        differ=("source", "target"),
    ),
    Function(
        "units.convert_speed",
        "Convert a speed from one unit to another.",
        (
            needed("speed", Real(3, 300, 1), "The speed."),
            needed("from_unit", _SPEED, "Unit of the given speed."),
            needed("to_unit", _SPEED, "Unit of the result."),
        ),
        (
            "convert a speed of| {speed} {from_unit} to {to_unit}",
            "how fast is {speed} {from_unit} in {to_unit}?",
            "restate| a speed of {speed} {from_unit} in {to_unit}",
        ),
        lists="to_unit",
        differ=("from_unit", "to_unit"),
    ),
    Function(
        "units.fuel_consumption",
        "Fuel consumption of a car in litres per 100 km.",
        (
            needed("litres", Real(4, 70, 1), "Fuel used, in litres."),
            needed("distance_km", Real(60, 900, 1), "Distance driven, in kilometres."),
        ),
        (
            "work out the fuel consumption of a car| that burnt {litres} litres over {distance_km} km",
            "what is the consumption of a car| that used {litres} litres for {distance_km} km?",
            "calculate my car's fuel consumption| for {distance_km} km driven on {litres} litres",
        ),
    ),
    Function(
        "units.list_units",
        "List the units that are known for a quantity.",
        (needed("quantity", Word(words("length mass time")), "Length, mass or time."),),
    ),
)

_GEOMETRY = (
    Function(
        "geometry.polygon_area",
        "Area of a polygon from its corners.",
        (
            needed("corners", Points(3, 5), "The corners in order, each as [x, y]."),
            _SMALL_UNIT,
        ),
        (
            "work out the area of the polygon| with the corners {corners}",
            "what is the area of a polygon| whose corners are {corners}?",
            "calculate how large the polygon is| that runs through {corners}",
        ),
    ),
    Function(
        "geometry.polygon_perimeter",
        "Perimeter of a polygon from its corners.",
        (
            needed("corners", Points(3, 5), "The corners in order, each as [x, y]."),
            _SMALL_UNIT,
        ),
        (
            "work out the perimeter of the polygon| with the corners {corners}",
            "how long is the outline of a polygon| whose corners are {corners}?",
            "measure the way around the polygon| that runs through {corners}",
        ),
    ),
    Function(
        "geometry.triangle_height",
        "Height of a triangle from its base and its area.",
        (
            needed("base", _SIDE, "Length of the base."),
            needed("area", Real(10, 800, 1), "Area of the triangle."),
        ),
        (
            "find the height of a triangle| with base {base} and area {area}",
            "how high is a triangle| of area {area} over a base of {base}?",
            "compute the height of the triangle| whose area is {area} and whose base is {base}",
        ),
    ),
    Function(
        "geometry.cylinder_volume",
        "Volume of an upright cylinder.",
        (
            needed("radius", _SIDE, "Radius of the base."),
            needed("height", _SIDE, "Height of the cylinder."),
            _SMALL_UNIT,
        ),
        (
            "calculate the volume of a cylinder| with radius {radius} and height {height}",
            "what volume has a cylinder| of height {height} and radius {radius}?",
            "tell me how much fits into a cylinder| that is {height} high and has a radius of {radius}",
        ),
    ),
    Function(
        "geometry.cone_volume",
        "Volume of an upright cone.",
        (
            needed("radius", _SIDE, "Radius of the base."),
            needed("height", _SIDE, "Height of the cone."),
            _SMALL_UNIT,
        ),
        (
            "calculate the volume of a cone| with radius {radius} and height {height}",
            "what volume has a cone| of height {height} and radius {radius}?",
            "tell me how much fits into a cone| that is {height} high and has a radius of {radius}",
        ),
    ),
    Function(
        "geometry.sphere_surface",
        "Surface area of a sphere.",
        (needed("radius", _SIDE, "Radius of the sphere."), _DIGITS),
        (
            "calculate the surface of a sphere| with a radius of {radius}",
            "what is the surface area of a ball| of radius {radius}?",
            "how much surface has a sphere| whose radius is {radius}?",
        ),
        lists="radius",
        foreign={
            "de": "Wie groß ist die Oberfläche einer Kugel mit dem Radius {radius}?",
            "it": "Calcola la superficie di una sfera di raggio {radius}.",
        },
    ),
    Function(
        "geometry.distance_between",
        "Straight distance between two points of the plane.",
        (
            needed("start", _POINT, "First point as (x, y)."),
            needed("end", _POINT, "Second point as (x, y)."),
        ),
        (
            "measure the distance| from {start} to {end}",
            "how far apart are the points| {start} and {end}?",
            "compute the straight distance| between {start} and {end}",
        ),
        differ=("start", "end"),
    ),
    Function(
        "geometry.rotate_point",
        "Rotate a point around the origin.",
        (
            needed("point", _POINT, "The point as (x, y)."),
            needed("angle", Whole(15, 345, 5), "Angle in degrees."),
            optional(
                "clockwise", flag("clockwise", "counter-clockwise"), "Direction of the turn.", False, " {clockwise}"
            ),
        ),
        (
            "rotate the point| {point} by {angle} degrees",
            "where does the point {point} end up after a rotation by {angle} degrees around the origin?",
            "turn the point| {point} around the origin by {angle} degrees",
        ),
    ),
    Function(
        "geometry.regular_polygon_angle",
        "Inner angle of a regular polygon in degrees.",
        (needed("sides", Whole(5, 40), "Number of sides."),),
        (
            "compute the inner angle of a regular polygon| with {sides} sides",
            "how large is each inner angle of a regular polygon| that has {sides} sides?",
            "tell me the inner angle of the regular polygon| of {sides} sides",
        ),
        lists="sides",
    ),
)

_PLANET = Choice(dict.fromkeys(words("Mercury Venus Mars Jupiter Saturn Uranus Neptune"), ()))
_STAR = Word(words("Sirius Vega Altair Deneb Rigel Spica Antares Capella Procyon Pollux Regulus Aldebaran Mizar"))

_ASTRONOMY = (
    Function(
        "astronomy.moon_phase",
        "Phase of the moon on a day.",
        (
            needed("date", DATE, "The day as YYYY-MM-DD."),
            optional(
                "hemisphere",
                Choice({"north": ("northern",), "south": ("southern",)}),
                "Hemisphere of the observer.",
                "north",
                ", seen from the {hemisphere} hemisphere",
            ),
        ),
        (
            "find the phase of the moon| on {date}",
            "what phase does the moon have| on {date}?",
            "tell me what the moon looks like| on {date}",
        ),
        lists="date",
        foreign={
            "de": "Welche Mondphase ist am {date}?",
            "fr": "Quelle est la phase de la lune le {date} ?",
            "ko": "{date}에 달의 위상을 알려 줘.",
        },
    ),
    Function(
        "astronomy.planet_position",
        "Position of a planet in the sky.",
        (
            needed("planet", _PLANET, "Name of the planet."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            optional("time", TIME, "Time as HH:MM, 24 hours, UTC.", "00:00", " at {time} UTC"),
        ),
        (
            "find the position of| {planet} in the sky on {date}",
            "where in the sky is {planet} on {date}?",
            "look up| where {planet} stands on {date}",
        ),
        lists="planet",
    ),
    Function(
        "astronomy.next_eclipse",
        "Next eclipse that can be seen from a city.",
        (
            needed("kind", Choice({"solar": (), "lunar": ()}), "Kind of eclipse."),
            needed("city", CITY, "City of the observer."),
            needed("after", DATE, "The search begins on this day, YYYY-MM-DD."),
        ),
        (
            "find the next {kind} eclipse in {city} after {after}",
            "when is the first {kind} eclipse after {after} that one can see from {city}?",
            "look for the next {kind} eclipse over {city}, starting from {after}",
        ),
    ),
    Function(
        "astronomy.star_brightness",
        "Apparent brightness of a star.",
        (
            needed("star", _STAR, "Name of the star."),
            optional(
                "band",
                Choice({"visual": ("visual",), "infrared": ("infrared",), "ultraviolet": ("ultraviolet",)}),
                "Part of the spectrum.",
                "visual",
                " in the {band} band",
            ),
        ),
        (
            "look up how bright| {star} is",
            "tell me the apparent brightness of| {star}",
            "get the brightness of the star| {star}",
        ),
        lists="star",
    ),
    Function(
        "astronomy.sunrise",
        "Time of sunrise in a city.",
        (
            needed("city", CITY, "Name of the city."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            optional(
                "twilight",
                flag("with the times of twilight", "without the times of twilight"),
                "Whether twilight is listed too.",
                False,
                " {twilight}",
            ),
        ),
        (
            "find out when the sun rises in| {city} on {date}",
            "at what time is sunrise in| {city} on {date}?",
            "get the time of sunrise for| {city} on {date}",
        ),
        lists="city",
        foreign={
            "de": "Wann geht am {date} in {city} die Sonne auf?",
            "pt": "A que horas nasce o sol em {city} no dia {date}?",
        },
    ),
    Function(
        "astronomy.sunset",
        "Time of sunset in a city.",
        (needed("city", CITY, "Name of the city."), needed("date", DATE, "The day as YYYY-MM-DD.")),
        (
            "find out when the sun sets in| {city} on {date}",
            "at what time is sunset in| {city} on {date}?",
            "get the time of sunset for| {city} on {date}",
        ),
        lists="city",
    ),
    Function(
        "astronomy.orbital_period",
        "Time that a body takes to go around its star, in years.",
        (
            needed("semi_major_axis", Real(1, 45, 2), "Semi-major axis in astronomical units."),
            optional(
                "star_mass",
                Real(1, 9, 1, whole=0),
                "Mass of the star in solar masses.",
                1.0,
                " around a star of {star_mass} solar masses",
            ),
        ),
        (
            "compute the orbital period of a body| with a semi-major axis of {semi_major_axis} AU",
            "how many years does an orbit take| whose semi-major axis is {semi_major_axis} AU?",
            "work out how long one orbit lasts| at a semi-major axis of {semi_major_axis} AU",
        ),
    ),
)

_FORMULA = Word(
    words(
        """
        H2O CO2 NaCl C6H12O6 CaCO3 NH3 H2SO4 KMnO4 Fe2O3 C2H5OH NaHCO3 HNO3 Al2O3 MgO SiO2 CH4 C8H18 CuSO4 KOH
        """
    )
)
_SOLUTION = Record(
    {
        "volume_ml": Field(Whole(20, 500, 10), "Volume in millilitres."),
        "ph": Field(Whole(2, 12), "Acidity as a whole pH value."),
    },
    ("{volume_ml} ml of pH {ph}",),
)

_CHEMISTRY = (
    Function(
        "chemistry.molar_mass",
        "Molar mass of a compound in grams per mole.",
        (needed("formula", _FORMULA, "Sum formula, such as H2O2."),),
        (
            "calculate the molar mass of| {formula}",
            "what is the molar mass of| {formula}?",
            "tell me how much one mole of| {formula} weighs",
        ),
        lists="formula",
        foreign={
            "de": "Berechne die molare Masse von {formula}.",
            "es": "Calcula la masa molar de {formula}, por favor.",
            "vi": "Hãy tính khối lượng mol của {formula}.",
        },
    ),
    Function(
        "chemistry.dilution_volume",
        "Volume of stock solution that is needed for a dilution.",
        (
            needed("stock", Real(4, 12, 1), "Concentration of the stock in mol/l."),
            needed("target", Real(1, 3, 2), "Wanted concentration in mol/l."),
            needed("volume_ml", Whole(100, 2_000, 50), "Wanted volume in ml."),
        ),
        (
            "calculate how much of a {stock} mol/l stock I need for {volume_ml} ml at {target} mol/l",
            "how much stock of {stock} mol/l goes into {volume_ml} ml of a {target} mol/l solution?",
            "work out the dilution of a stock| of {stock} mol/l down to {target} mol/l, {volume_ml} ml in all",
        ),
    ),
    Function(
        "chemistry.rank_by_mass",
        "Put compounds in order of their molar mass.",
        (
            needed("formulas", Items(_FORMULA, 3, 4), "Sum formulas, in the order given."),
            optional(
                "descending",
                flag("heaviest first", "lightest first"),
                "Whether the heaviest comes first.",
                False,
                ", {descending}",
            ),
        ),
        (
            "rank compounds by molar mass:| {formulas}",
            "put {formulas} in order of their molar masses",
            "sort by molar mass| the compounds {formulas}",
        ),
    ),
    Function(
        "chemistry.mix_solutions",
        "Acidity of a mixture of solutions.",
        (needed("solutions", Items(_SOLUTION, 2, 3), "The solutions that are mixed."),),
        (
            "estimate the pH of a mixture| of {solutions}",
            "what pH do I get| if I mix {solutions}?",
            "compute the acidity after mixing| {solutions}",
        ),
    ),
    Function(
        "chemistry.element_property",
        "Look up a property of a chemical element.",
        (
            needed(
                "element",
                Word(words("iron gold neon zinc lead tin argon boron cobalt nickel silver iodine")),
                "English name of the element.",
            ),
            needed(
                "property",
                Choice(
                    {
                        "melting_point": ("melting point",),
                        "density": ("density",),
                        "atomic_number": ("atomic number",),
                        "electronegativity": ("electronegativity",),
                    }
                ),
                "What is looked up.",
            ),
        ),
        (
            "look up the {property} of {element}",
            "what is the {property} of {element}?",
            "tell me which {property} {element} has",
        ),
        lists="element",
    ),
    Function(
        "chemistry.boiling_point",
        "Boiling point of a liquid at a pressure.",
        (
            needed("liquid", Word(words("acetone ethanol benzene toluene hexane glycerol")), "Name of the liquid."),
            needed("pressure_kpa", Real(20, 300, 1), "Pressure in kilopascals."),
        ),
        (
            "find the boiling point of {liquid} at {pressure_kpa} kPa",
            "at what temperature does {liquid} boil under {pressure_kpa} kPa?",
            "tell me when {liquid} starts to boil at a pressure of {pressure_kpa} kPa",
        ),
        lists="pressure_kpa",
    ),
)

_ROWS = Points(2, 2, width=2, most=9, item="integer")
_COLUMN = Word(words("price age weight rating stock score distance floor height"))
_TABLE = Word(words("orders members parcels readings lodgings invoices players vehicles"))

_STATISTICS = (
    Function(
        "statistics.moving_average",
        "Moving average of a series.",
        (
            needed("values", Items(Real(3, 90, 1), 5, 7), "The series in order."),
            needed("window", Whole(2, 4), "Number of values that each average covers."),
        ),
        (
            "compute the moving average of {values} with a window of {window}",
            "smooth the series {values} by a moving average over {window} values",
            "what is the moving average| of {values} for a window of {window}?",
        ),
    ),
    Function(
        "statistics.correlation",
        "Correlation of two series of equal length.",
        (
            needed("x", Items(Real(3, 90, 1), 4, 4), "First series."),
            needed("y", Items(Real(3, 90, 1), 4, 4), "Second series."),
            optional(
                "method",
                Choice(
                    {
                        "pearson": ("Pearson's",),
                        "spearman": ("Spearman's",),
                        "kendall": ("Kendall's",),
                    }
                ),
                "Kind of coefficient.",
                "pearson",
                ", using {method} coefficient",
            ),
        ),
        (
            "compute the correlation of the series| {x} with the series {y}",
            "how strongly is {x} correlated with {y}?",
            "find the correlation| between the values {x} and the values {y}",
        ),
        differ=("x", "y"),
    ),
    Function(
        "statistics.histogram",
        "Count values in bins of equal width.",
        (
            needed("values", Items(Whole(1, 60), 6, 9), "The values."),
            needed("bins", Whole(2, 5), "Number of bins."),
        ),
        (
            "make a histogram of {values} with {bins} bins",
            "sort the values {values} into {bins} bins of a histogram",
            "draw up a histogram that puts {values} into {bins} bins",
        ),
    ),
    Function(
        "statistics.trimmed_mean",
        "Mean of values without the largest and smallest ones.",
        (
            needed("values", _SERIES, "The values."),
            optional(
                "cut",
                Whole(2, 4),
                "How many values are dropped at each end.",
                1,
                ", dropping {cut} values at each end",
            ),
        ),
        (
            "calculate the trimmed mean| of {values}",
            "what is the trimmed mean| of the values {values}?",
            "give me the trimmed average| of {values}",
        ),
    ),
    Function(
        "matrix.multiply",
        "Product of two matrices.",
        (
            needed("left", _ROWS, "Left matrix, row by row."),
            needed("right", _ROWS, "Right matrix, row by row."),
        ),
        (
            "multiply the matrix with the rows {left} by the matrix with the rows {right}",
            "compute the matrix product whose left factor has the rows {left} and whose right one has {right}",
            "what is the matrix with the rows {left} times the matrix with the rows {right}?",
        ),
        differ=("left", "right"),
    ),
    Function(
        "matrix.determinant",
        "Determinant of a square matrix.",
        (needed("rows", Points(3, 3, width=3, most=9, item="integer"), "The matrix, row by row."),),
        (
            "compute the determinant| of {rows}",
            "what is the determinant| of the matrix {rows}?",
            "find the determinant| of this matrix: {rows}",
        ),
    ),
    Function(
        "table.filter_rows",
        "Rows of a table that meet all conditions.",
        (
            needed("table", _TABLE, "Name of the table."),
            needed(
                "conditions",
                Items(
                    Record(
                        {
                            "column": Field(_COLUMN, "The column."),
                            "operator": Field(Choice({">": (), "<": (), ">=": (), "<=": ()}), "The comparison."),
                            "value": Field(Whole(5, 500, 5), "What the column is compared with."),
                        },
                        ("{column} {operator} {value}",),
                    ),
                    1,
                    2,
                ),
                "The conditions.",
            ),
            optional("limit", Whole(20, 90, 10), "Most rows that are returned.", 100, ", at most {limit} rows"),
        ),
        (
            "filter the table {table} for| rows with {conditions}",
            "show me the rows of {table} that have {conditions}",
            "get all rows from the {table} table where {conditions}",
        ),
    ),
    Function(
        "table.set_value",
        "Write one cell of a table.",
        (
            needed("table", _TABLE, "Name of the table."),
            needed("row", Whole(2, 400), "Number of the row."),
            needed("column", _COLUMN, "The column."),
            needed(
                "value",
                OneOf((Whole(5, 900), Real(1, 90, 1, whole=0), Word(words("unknown open closed pending checked")))),
                "New content of the cell, a number or a word.",
            ),
        ),
        (
            "in the table {table}, set the cell {column} of row {row} to {value}.",
            "write {value} into row {row} of the column {column} in {table}",
            "change column {column} in row {row} of {table} to {value}",
        ),
    ),
    Function(
        "table.count_rows",
        "Number of rows in a table.",
        (
            needed("table", _TABLE, "Name of the table."),
            optional("year", Whole(2015, 2024), "Only rows of this year.", None, " for the year {year}"),
        ),
        (
            "count the rows| of the table {table}",
            "how many rows are there| in {table}?",
            "tell me how many rows| the table {table} has",
        ),
    ),
)

FUNCTIONS = (*_UNITS, *_GEOMETRY, *_ASTRONOMY, *_CHEMISTRY, *_STATISTICS)
"""In the order of their domains."""
