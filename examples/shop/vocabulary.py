"""The invented world of Larkfell Mail Order: names, places, goods and seasons, without any logic."""

# code, name, promised days, carrier, share of customers (percent)
REGIONS = (
    ("MV", "Middle Vale", 3, "Heron Post", 31),
    ("SC", "Saltcoast", 4, "Heron Post", 22),
    ("HM", "Highmoor", 5, "Carter & Mule", 14),
    ("WF", "Westerfen", 4, "Carter & Mule", 17),
    ("SH", "Stonehill", 5, "Carter & Mule", 11),
    ("OI", "Outer Isles", 8, "Islefreight", 5),
)

# Of each region: towns with their postcodes.
TOWNS = {
    "MV": (("Larkfell", "00410"), ("Orrin Cross", "00432"), ("Tamsel", "00455"), ("Wickenby Green", "00471")),
    "SC": (("Brackwater", "01120"), ("Gullhaven", "01134"), ("Port Ansley", "01150"), ("Sandry", "01168")),
    "HM": (("Cairnlow", "02210"), ("Drovers Gate", "02225"), ("Marrow", "02240"), ("Little Marrow", "02241")),
    "WF": (("Eelmouth", "03310"), ("Sedge", "03322"), ("Upper Sedge", "03323"), ("Reedholm", "03340")),
    "SH": (("Flintley", "04405"), ("Quarry End", "04418"), ("Tarn Hollow", "04433")),
    "OI": (("Skarrow", "09901"), ("Northness", "09907")),
}

FIRST_NAMES = (  # noqa: SIM905
    "Abel Agda Alma Anselm Arvid Beata Benno Brida Callum Carin Cyril Dagny Darian Delia Edda Elin Emeric "
    "Enid Fabian Fenna Florin Gerda Gideon Greta Hanno Hedda Idris Ilsa Ivo Jorunn Judith Kaspar Kerstin "
    "Lambert Leonie Linus Maida Malin Matthis Merle Nadja Nils Odile Oskar Petra Quentin Ragna Rolf "
    "Rosalind Selma Sigrid Stellan Thea Tobin Ulla Valentin Vera Wanda Wilfred Yorick"
).split()

LAST_NAMES = (  # noqa: SIM905
    "Aldermoor Appleyarrow Ashgrove Barrowby Bellthorn Birkenshade Brackenrow Brindleby Candlewick "
    "Coldbrook Corvane Dunmarrow Eastlake Ellin Elmhurst Fallowdene Farrowgate Fennimarsh Flaxby Garrowen "
    "Goldthrush Greywether Hallowby Harrowmead Hazelrigg Hollinshade Ironwood Jessamere Kestrelby "
    "Kirrowan Lackland Larchway Lindqvall Loomweather Marlowen Meadowson Merriden Millrace Mossgrove "
    "Netherby Oatcastle Pellwick Pennyfarrow Quillby Ravenscar Rookhope Rushbrooke Saltonway Sedgeley "
    "Silverlow Stannage Stillwater Tallowby Tarnhill Thistledene Thorsby Thorsbye Umberleigh Vexley "
    "Wainfleet Weatherlow Whinfell Woolcombe Yarrowby"
).split()

# id, first name, last name, job title, manager, florins a month, hired on, left on
EMPLOYEES = (
    (1, "Henrike", "Larkmoor", "Owner", None, 6400, "2009-03-02", None),
    (2, "Osric", "Vanterpool-Lee", "Head of Sales", 1, 4700, "2011-09-01", None),
    (3, "Marta", "Ellin", "Head of Buying", 1, 4600, "2013-02-18", None),
    (4, "Gunnar", "Stavelow", "Head of Warehouse", 1, 4200, "2010-06-14", None),
    (5, "Ysolde", "Kemmer", "Bookkeeper", 1, 3900, "2015-01-05", None),
    (6, "Anneke", "Thorsby", "Desk Supervisor", 2, 3300, "2014-04-07", None),
    (7, "Bertil", "Crane-Ashby", "Order Desk Clerk", 6, 2550, "2016-10-03", None),
    (8, "Coralie", "Dunmarrow", "Order Desk Clerk", 6, 2600, "2017-03-20", "2023-06-30"),
    (9, "Tobin", "Harrowmead", "Order Desk Clerk", 6, 2450, "2019-08-12", None),
    (10, "Ludmila", "Weatherlow", "Order Desk Clerk", 6, 2400, "2021-11-01", None),
    (11, "Jory", "Pellwick", "Order Desk Clerk", 6, 2350, "2023-05-15", None),
    (12, "Sunniva", "Rookhope", "Web Shop Manager", 2, 4900, "2021-02-01", None),
    (13, "Martha", "Ellin", "Buyer", 3, 3250, "2018-05-22", None),
    (14, "Corwin", "Flaxby", "Buyer", 3, 3150, "2020-01-13", None),
    (15, "Dorothea", "Silverlow", "Buyer", 3, 3350, "2016-07-04", None),
    (16, "Emeric", "Barrowby", "Packing Supervisor", 4, 2900, "2014-09-29", None),
    (17, "Frida", "Coldbrook", "Packer", 16, 2200, "2018-02-05", None),
    (18, "Halvard", "Mossgrove", "Packer", 16, 2150, "2019-10-21", "2022-11-30"),
    (19, "Ines", "Tallowby", "Packer", 16, 2100, "2022-03-01", None),
    (20, "Kjell", "Brackenrow", "Packer", 16, 2050, "2023-01-09", None),
    (21, "Leonie", "Whinfell", "Workshop Master", 4, 4350, "2012-08-06", None),
    (22, "Nestor", "Umberleigh", "Joiner", 21, 2850, "2015-05-11", None),
    (23, "Pernille", "Loomweather", "Weaver", 21, 2750, "2017-09-18", None),
    (24, "Ruben", "Kestrelby", "Apprentice", 21, 1300, "2024-08-01", None),
)

# id, name, town, lead days (text, as typed)
SUPPLIERS = (
    (1, "Alder & Finch", "Orrin Cross", "7"),
    (2, "Alder and Finch", "Port Ansley", "12"),
    (3, "Brackwater Glassworks", "Brackwater", "21"),
    (4, "Cairnlow Forge", "Cairnlow", "30"),
    (5, "Eelmouth Basketry", "Eelmouth", "18"),
    (6, "Flintley Stoneware", "Flintley", "9"),
    (7, "Goosander Metalware", "Gullhaven", "14"),
    (8, "Heath Apiaries", "Drovers Gate", "5"),
    (9, "Highmoor Wool Growers", "Marrow", "10"),
    (10, "Reedholm Nursery", "Reedholm", "4"),
    (11, "Reedholm Nurseries", "Reedholm", "6"),
    (12, "Skarrow Ropewalk", "Skarrow", "45"),
    (13, "Tamsel Seed House", "Tamsel", "3"),
    (14, "Wickenby Paper Mill", "Wickenby Green", "8"),
)

# Of each category: sku prefix, buyer, most pieces on a usual line, demand by month (percent of its mean).
CATEGORIES = {
    "Seeds": ("SE", 13, 6, (120, 170, 230, 190, 110, 70, 60, 60, 70, 40, 30, 50)),
    "Bulbs and Plants": ("BP", 13, 5, (30, 60, 130, 170, 140, 60, 40, 90, 190, 180, 70, 40)),
    "Garden Tools": ("GT", 14, 1, (60, 90, 150, 170, 140, 110, 90, 80, 90, 80, 60, 80)),
    "Watering": ("WA", 14, 1, (20, 40, 90, 140, 190, 230, 190, 130, 60, 30, 30, 50)),
    "Kitchen": ("KI", 15, 2, (80, 70, 70, 80, 80, 80, 70, 80, 90, 110, 190, 200)),
    "Preserving": ("PR", 15, 4, (30, 20, 30, 40, 90, 170, 210, 230, 200, 110, 40, 30)),
    "Beekeeping": ("BK", 14, 1, (80, 110, 160, 190, 180, 130, 90, 70, 60, 50, 40, 40)),
    "Lighting": ("LI", 15, 2, (110, 80, 50, 40, 40, 40, 50, 70, 110, 160, 210, 240)),
    "Wool and Textiles": ("WT", 13, 2, (130, 100, 70, 50, 30, 20, 20, 40, 110, 170, 210, 250)),
    "Paper and Gifts": ("PG", 15, 3, (60, 60, 70, 70, 70, 60, 50, 50, 80, 120, 240, 270)),
}

# Of each category: product, price today in cents, grams, popularity, suppliers (the first preferred).
PRODUCTS = {
    "Seeds": (
        ("Sweet Pea Mix", 295, None, 9, (13,)),
        ("Runner Bean, Scarlet", 320, None, 8, (13,)),
        ("Runner Bean, White", 320, None, 4, (13,)),
        ("Winter Kale", 280, None, 5, (13, 10)),
        ("Marsh Mallow", 340, None, 2, (10,)),
        ("Heritage Tomato Selection", 895, None, 7, (13,)),
        ("Meadow Flowers, 1 m²", 450, None, 8, (13, 11)),
        ("Meadow Flowers, 10 m²", 2850, 160, 3, (13, 11)),
        ("Herb Starter Set", 1250, 240, 6, (10,)),
        ("Seed Potato, Early Blue", 690, 1050, 4, (11,)),
    ),
    "Bulbs and Plants": (
        ("Snowdrop Bulbs, 25", 890, 300, 6, (10,)),
        ("Crocus Bulbs, 25", 750, 280, 6, (10, 11)),
        ("Tulip Bulbs, Dusk Mix, 20", 1190, 520, 8, (11,)),
        ("Lily of the Valley, 5", 1350, 400, 3, (10,)),
        ("Rhubarb Crown", 1090, 900, 3, (11,)),
        ("Apple Tree, Larkfell Russet", 4850, 5200, 2, (10,)),
        ("Gooseberry Bush", 1850, 1600, 3, (10, 11)),
        ("Lavender, 3 Pots", 1690, 1400, 6, (11,)),
    ),
    "Garden Tools": (
        ("Hand Fork", 1890, 310, 7, (4,)),
        ("Hand Trowel", 1790, 290, 9, (4,)),
        ("Border Spade", 6450, 1900, 4, (4, 7)),
        ("Digging Fork", 6950, 2200, 4, (4,)),
        ("Pruning Knife", 3250, 120, 5, (4,)),
        ("Pruning knife, left-handed", 3650, 120, 2, (4,)),
        ("Dibber, Ash", 1450, 180, 4, ()),
        ("Seedling Tray, Larch", 2450, 850, 5, ()),
        ("Trug, Small", 3950, 700, 4, (5,)),
        ("Trug, Large", 5450, 1150, 3, (5,)),
        ("Garden Twine, 100 m", 790, 260, 8, (12,)),
        ("Grindstone", 2750, 1300, 2, (6,)),
    ),
    "Watering": (
        ("Copper Watering Can, 5 l", 8950, 1500, 4, (7,)),
        ("Copper Watering Can, 9 l", 11950, 2100, 3, (7,)),
        ("Tin Watering Can, 9 l", 3950, 1350, 6, (7, 2)),
        ("Rain Gauge", 1650, 210, 5, (3,)),
        ("Plant Mister", 2190, 330, 5, (3, 7)),
        ("Clay Watering Spike, 4", 1290, 640, 5, (6,)),
        ("Rain Barrel, Oak", 24500, 19500, 1, ()),
    ),
    "Kitchen": (
        ("Bread Board, Beech", 3450, 1400, 6, ()),
        ("Rolling Pin, Pear Wood", 2650, 620, 4, ()),
        ("Stoneware Bowl, Small", 1950, 700, 6, (6,)),
        ("Stoneware Bowl, Large", 3450, 1650, 5, (6,)),
        ("Butter Dish", 2850, 900, 4, (6,)),
        ("Iron Skillet", 7450, 2600, 4, (4,)),
        ("Paring Knife", 2450, 90, 6, (4, 7)),
        ("Enamel Coffee Pot", 5250, 1100, 3, (7,)),
        ("Linen Tea Towel", 1290, 110, 9, (2,)),
        ("Salt Box, Maple", 3150, 780, 3, ()),
    ),
    "Preserving": (
        ("Preserving Jar, 0.5 l", 390, 380, 9, (3,)),
        ("Preserving Jar, 1 l", 490, 560, 9, (3,)),
        ("Rubber Rings, 20", 420, None, 7, (2,)),
        ("Jam Pan, Copper", 18950, 3400, 2, (7,)),
        ("Jar Funnel", 1150, 140, 5, (7, 2)),
        ("Fermenting Crock, 5 l", 7950, 5400, 3, (6,)),
        ("Apple Drying Rack", 4250, 1800, 2, ()),
        ("Labels for Jars, 100", 650, None, 6, (14,)),
    ),
    "Beekeeping": (
        ("Hive, Complete", 32500, 24000, 1, ()),
        ("Hive Frame, 10", 3850, 1900, 4, ()),
        ("Smoker", 4650, 980, 2, (8, 7)),
        ("Bee Veil", 2950, 220, 3, (8,)),
        ("Hive Tool", 1550, 240, 3, (4, 8)),
        ("Honey Jar, 250 g, 24", 2690, 4100, 4, (3, 8)),
        ("Beeswax Block", 1450, 500, 5, (8,)),
    ),
    "Lighting": (
        ("Beeswax Candle, Pair", 1150, 190, 9, (8,)),
        ("Stable Lantern", 6850, 1250, 4, (7,)),
        ("Storm Lantern", 7450, 1400, 3, (7,)),
        ("Glass Lamp, Green", 9850, 1750, 2, (3,)),
        ("Glass Lamp, Clear", 9250, 1750, 3, (3,)),
        ("Lamp Wick, 5 m", 480, None, 5, (12,)),
        ("Candle Snuffer", 1850, 160, 3, (4,)),
    ),
    "Wool and Textiles": (
        ("Moor Wool, Grey, 100 g", 990, 105, 8, (9,)),
        ("Moor Wool, Undyed, 100 g", 890, 105, 7, (9,)),
        ("Moor Wool, Madder Red, 100 g", 1190, 105, 5, (9,)),
        ("Wool Blanket, Single", 12450, 1500, 3, ()),
        ("Wool Blanket, Double", 18450, 2400, 2, ()),
        ("Fisherman Socks", 2650, 150, 7, (9, 12)),
        ("Gardening Apron", 4450, 420, 4, (2,)),
        ("Felt Slippers", 3950, 380, 5, (9,)),
    ),
    "Paper and Gifts": (
        ("Garden Diary", 2450, 480, 6, (14,)),
        ("Wall Calendar", 1690, 350, 7, (14,)),
        ("Letter Paper, 50", 1350, 310, 4, (14,)),
        ("Gift Voucher, 25 Florins", 2500, None, 5, (14,)),
        ("Gift Voucher, 50 Florins", 5000, None, 3, (14,)),
        ("Pressed Flower Kit", 3450, 850, 3, (1,)),
        ("Wren Nest Box", 2250, 1100, 5, ()),
        ("Owl Nest Box", 6250, 4600, 1, ()),
    ),
}

FIRST_CATALOGUE = "2019-01-15"
INTRODUCED = {
    "Meadow Flowers, 10 m²": "2023-02-01",
    "Herb Starter Set": "2022-02-01",
    "Pruning knife, left-handed": "2022-09-01",
    "Clay Watering Spike, 4": "2023-04-03",
    "Fermenting Crock, 5 l": "2022-06-01",
    "Felt Slippers": "2023-09-18",
    "Salt Box, Maple": "2024-03-04",
    "Owl Nest Box": "2023-10-02",
    "Gift Voucher, 50 Florins": "2022-11-01",
}
DISCONTINUED = {
    "Marsh Mallow": "2023-08-31",
    "Grindstone": "2024-01-31",
    "Enamel Coffee Pot": "2023-03-31",
    "Glass Lamp, Green": "2024-06-30",
    "Apple Drying Rack": "2022-12-31",
    "Letter Paper, 50": "2024-09-30",
}

STATUSES = (
    ("N", "new"),
    ("P", "packed"),
    ("S", "sent"),
    ("D", "delivered"),
    ("L", "lost by the carrier"),
    ("X", "cancelled"),
)

# How a channel was typed, with how often: the order form was free text until the web shop was renewed.
CHANNEL_SPELLINGS = {
    "web": (("web", 80), ("Web", 15), ("WEB", 5)),
    "phone": (("phone", 60), ("Phone", 30), ("PHONE", 10)),
    "post": (("post", 70), ("Post", 30)),
}
# Channels by year, percent.
CHANNELS = {
    2022: (("web", 42), ("phone", 35), ("post", 23)),
    2023: (("web", 55), ("phone", 29), ("post", 16)),
    2024: (("web", 66), ("phone", 24), ("post", 10)),
}
GROUPS = (("private", 80), ("trade", 13), ("school", 7))
RETURN_REASONS = (
    ("damaged in transit", 26),
    ("not as described", 14),
    ("changed my mind", 18),
    ("wrong item sent", 12),
    (None, 30),
)

SEASON = (70, 85, 130, 145, 125, 95, 75, 70, 95, 95, 125, 135)  # orders by month, percent of the mean
PRICE_LEVEL = {2022: 92, 2023: 96, 2024: 100}  # percent of the price today
