"""English."""
# ruff: noqa: E501 - a sentence stays on its line

from benchmarks.holographic_texts import Part, Texts

OPENED = Part(
    names={
        "person": (
            "Alice Novak",
            "Marcus Reed",
            "José Álvarez",
            "Dana",
            "Priya Raman",
            "Siobhán O'Brien",
            "Wei Chen",
            "Tobias",
            "Anne-Marie Dubois",
            "Ronald McAllister",
            "Łukasz Wójcik",
            "Ingrid",
            "Omar Haddad",
            "Fatima Zahra",
            "Benedikt",
            "Chloë Martin",
            "Yuki Tanaka",
            "Sam Ortiz",
            "Zoë",
            "Nikolai Petrov",
            "Guido van Rossum",
            "Henrik Ibsen",
        ),
        "org": (
            "Acme",
            "NASA",
            "Blue Harbor Labs",
            "IBM",
            "Globex Corporation",
            "OpenFields",
            "Initech",
            "Nestlé",
            "SNCF",
        ),
        "place": ("Oslo", "New York", "São Paulo", "Bergen", "Kraków", "San Francisco", "Nairobi", "Zürich", "Leeds"),
        "tool": (
            "PostgreSQL",
            "GitHub",
            "FastAPI",
            "Redis",
            "C++",
            "Kubernetes",
            "TypeScript",
            "LaTeX",
            "SQLite",
            "VSCode",
            "CUDA",
            "gRPC",
            "Terraform",
            ".NET",
            "C#",
            "RabbitMQ",
        ),
        "project": (
            "Apollo",
            "Project Bluebird",
            "DataForge",
            "payments-api",
            "Nightingale",
            "OrderHub",
            "Project Zephyr",
        ),
    },
    facts="""
        {person} works at {org} as a data engineer. => What does {person} do at {org}?
        {person} lives in {place} and takes the train to the office. => In which city does {person} live?
        We picked {tool} as the storage layer of {project}. => What is the storage layer of {project}?
        {project} was started by {person} during a hackathon in {place}. => Who started {project} at the hackathon?
        The people at {org} moved {project} over to {tool} last winter. => What was {project} moved to at {org}?
        Whenever the build breaks, ask {person}, who wrote the {tool} scripts. => Whom do I ask about the {tool} scripts when the build breaks?
        {person} is allergic to peanuts and told {org} about it. => Is {person} allergic to anything?
        The contract between {org} and {person} ends in June. => When does the contract of {person} with {org} end?
        In {place}, the {org} office closes at noon on Fridays. => When does {org} close in {place} on Fridays?
        {person} plays the cello in an orchestra in {place}. => Which instrument does {person} play?
        Customers complained that {project} is slow with {tool} under load. => Why did customers complain about {project} under load?
        According to {person}, {tool} should be upgraded before {project} ships. => What should be upgraded before {project} ships, according to {person}?
        {person} and {person2} share a desk at {org}. => With whom does {person} share a desk? <>
        My manager {person} approves every expense above 500 euros. => Which expenses does my manager {person} approve?
        It turned out that {tool} leaks memory when {person} runs the importer. => What happens when {person} runs the {tool} importer?
        The {org} badge opens the garage in {place}. => Which badge opens the garage in {place}?
        {person} told me: the password vault of {project} rotates weekly. => How often does the vault of {project} rotate, said {person}?
        Next spring {person} will move the {tool} cluster to {place}. => Where will {person} move the {tool} cluster?
    """,
    pairs={
        "preference": """
            {p} prefers {drink1} in the morning. => {p} now prefers {drink2} in the morning.
            {p}'s favorite color is {color1}. => {p}'s favorite color is {color2} these days.
            I prefer {editor1} for writing code. => I switched to {editor2} for writing code.
            The user wants answers in {language1}. => The user wants answers in {language2} from now on.
            {p} prefers {pairA} over {pairB}. => {p} prefers {pairB} over {pairA}.
            My favorite drink is {drink1}. => I'd rather have {drink2}, that's my favorite drink now.
            {p} usually orders {drink1} after lunch. => After lunch {p} usually orders {drink2}.
            User prefers {theme1} mode in the terminal. => User prefers {theme2} mode in the terminal.
        """,
        "value": """
            {p} lives in {city1}. => {p} lives in {city2}.
            {p} lives in {city1} with two cats. => {p} moved to {city2} in March.
            {p} works at {org1}. => {p} works for {org2} now.
            {p} is based in {city1}. => {p} has relocated to {city2}.
            The database of {proj} is {db1}. => The database of {proj} is {db2}.
            {proj} uses {db1} as its database. => {proj} now uses {db2} as its database.
            {p}'s manager is {q}. => {p}'s manager is {r}.
            {p} is the {role1} of {proj}. => {p} is the {role2} of {proj}.
            The {proj} backend is written in {code1}. => The {proj} backend was rewritten in {code2}.
            My phone number ends up at {org1}, they are my carrier. => My carrier is {org2}.
        """,
        "opposite": """
            Logging is enabled on {proj}. => Logging is disabled on {proj}.
            The {proj} repository is public. => The {proj} repository is private.
            {p} approved the budget of {proj}. => {p} rejected the budget of {proj}.
            Code review is mandatory for {proj}. => Code review is optional for {proj}.
            The {proj} beta is open. => The {proj} beta is closed.
            {p} loves {food1}. => {p} hates {food1}.
            The {city1} office is open on Saturdays. => The {city1} office is closed on Saturdays.
        """,
        "negation": """
            {p} is allergic to {food1}. => {p} is not allergic to {food1}.
            {p} has a car. => {p} does not have a car.
            {p} can work on weekends. => {p} can't work on weekends.
            {p} works at {org1}. => {p} no longer works at {org1}.
            We use {db1} for {proj}. => We don't use {db1} for {proj}.
            {p} eats {food1}. => {p} never eats {food1}.
            I like {food1}. => I don't like {food1} anymore.
            {proj} supports {code1}. => {proj} doesn't support {code1}.
        """,
        "number": """
            The API of {proj} listens on port {n1}. => The API of {proj} listens on port {n2}.
            {p}'s team has {s1} people. => {p}'s team has {s2} people.
            The budget of {proj} is {n1} euros. => The budget of {proj} was raised to {n2} euros.
            {p} is {s1} years old. => {p} is {s2} years old.
            The timeout of {proj} is {s1} seconds. => The timeout of {proj} is now {s2} seconds.
            The staging server of {proj} has {s1} GB of RAM. => RAM on the staging server of {proj} is {s2} GB.
            {p} has {s1} direct reports. => {p} has {s2} direct reports.
            {proj} costs ${n1} a month. => {proj} costs ${n2} a month.
        """,
        "date": """
            The deadline of {proj} is {date1}. => The deadline of {proj} is {date2}.
            {p}'s birthday is on {date1}. => {p}'s birthday is on {date2}.
            The release of {proj} is planned for {month1}. => The release of {proj} is planned for {month2}.
            The stand-up of {proj} is on {day1}. => The stand-up of {proj} moved to {day2}.
            {p} goes on vacation on {iso1}. => {p} goes on vacation on {iso2}.
            The {proj} demo starts at {time1}. => The {proj} demo starts at {time2}.
        """,
        "none": """
            {p} works at {org1}. => {p} administers the {org1} repository.
            {p} administers the {org1} repository. => {p} lives in {city1}.
            {p} lives in {city1}. => {q} lives in {city2}.
            {p} likes {food1}. => {p} likes {food2}.
            {p} prefers {drink1} in the morning. => {p} prefers {drink2} in the evening.
            {p} prefers {drink1}. => {p} prefers {theme1} mode in the terminal.
            {p} lives in {city1}. => {p} lives in {city1} with two cats.
            {p} lives in {city1}. => {p} was in {city2} on business.
            {p} used to live in {city2}. => {p} lives in {city1}.
            Sprint {s1} of {proj} went well. => Sprint {s2} of {proj} went well.
            The API of {proj} listens on port {n1}. => The API of {proj2} listens on port {n2}.
            The deadline of {proj} is {date1}. => {p}'s birthday is on {date2}.
            {p} is allergic to {food1}. => {p} is not allergic to {food2}.
            {proj} supports {code1}. => {proj} supports {code2}.
            {p} knows {code1}. => {p} knows {code2}.
            Logging is enabled on {proj}. => Caching is disabled on {proj}.
            {p} visited {city1} in {month1}. => {p} visited {city2} in {month2}.
            {p} has {s1} direct reports. => {p} has two cats.
            The budget of {proj} is {n1} euros. => The API of {proj} listens on port {n2}.
            {p}'s manager is {q}. => {q}'s manager is {r}.
            {p} has a car. => {q} does not have a car.
            We use {db1} for {proj}. => We use {db2} for {proj2}.
            {p} met {q} in {city1}. => {p} met {r} in {city2}.
            {p} wrote the {code1} parser of {proj}. => {p} reviewed the {code2} parser of {proj}.
        """,
    },
)

HELD = Part(
    names={
        "person": (
            "Grace Okafor",
            "Étienne Caron",
            "Matthew",
            "Lena Brandt",
            "Søren Kierkegaard",
            "Ravi",
            "D'Angelo Brooks",
            "Ludmila Ivanova",
            "Jean-Luc Moreau",
            "Haruto Sato",
            "Mei-Ling Wu",
            "Patrick",
            "Óscar Núñez",
            "Tanja MacLeod",
        ),
        "org": ("Umbrella Logistics", "ESA", "Soylent", "Wayne Enterprises", "UNHCR", "GreenLeaf", "Hooli"),
        "place": ("Lisbon", "Buenos Aires", "Tromsø", "Montréal", "Cape Town", "Gdańsk", "Austin"),
        "tool": ("MongoDB", "GitLab", "PyTorch", "Kafka", "JavaScript", "ClickHouse", "F#", "DuckDB", "NumPy", "YAML"),
        "project": ("Orion", "Project Sandstone", "WaveMaker", "billing-core", "Falconer", "MapStitch"),
    },
    facts="""
        {person} joined {org} three years ago. => When did {person} join {org}?
        Since the flood, {person} rents a flat in {place}. => Where does {person} rent a flat?
        {tool} powers the reports of {project}. => What powers the reports of {project}?
        The {project} incident was caused by a {tool} misconfiguration, {person} found. => What caused the {project} incident?
        {org} hired {person} to teach {tool}. => Who teaches {tool} at {org}?
        {person} hates meetings before ten. => Which meetings does {person} hate?
        Backups of {project} are kept by {org} in {place}. => Where are the backups of {project} kept?
        Please send invoices for {project} to {person}. => To whom do invoices for {project} go?
        {person} keeps bees on a roof in {place}. => What does {person} keep on the roof?
        During the audit, {org} found unlicensed copies of {tool}. => What did {org} find in the audit?
        {person} introduced {person2} to {tool}. => Who introduced {person2} to {tool}?
    """,
    pairs={
        "preference": """
            {p} would rather drink {drink1}. => {p} would rather drink {drink2} now.
            My preferred editor is {editor1}. => My preferred editor is {editor2}.
            {p} always picks {color1} shirts. => {p} always picks {color2} shirts.
            {p}'s preferred language is {language1}. => {p} prefers {language2} as a language.
        """,
        "value": """
            {p} resides in {city1}. => {p} resides in {city2}.
            {p} is employed by {org1}. => {p} joined {org2}.
            The main office of {org1} is in {city1}. => The main office of {org1} is in {city2}.
            {q} leads {proj}. => {r} leads {proj} now.
            {proj} runs on {db1}. => {proj} was migrated to {db2}.
        """,
        "opposite": """
            The {proj} server is online. => The {proj} server is offline.
            The vote on {proj} passed. => The vote on {proj} failed.
            Tests of {proj} are required. => Tests of {proj} are optional.
            {p} likes {food1}. => {p} dislikes {food1}.
        """,
        "negation": """
            {p} speaks {language1}. => {p} doesn't speak {language1}.
            {p} owns a boat. => {p} doesn't own a boat anymore.
            The {proj} build is green. => The {proj} build isn't green.
            {p} will attend the {proj} kickoff. => {p} won't attend the {proj} kickoff.
        """,
        "number": """
            The {proj} cluster has {s1} nodes. => The {proj} cluster has {s2} nodes.
            {p} weighs {s1} kg. => {p} weighs {s2} kg.
            The rate limit of {proj} is {n1} requests. => The rate limit of {proj} was lowered to {n2} requests.
            {p} pays {n1} dollars of rent. => {p} pays {n2} dollars of rent.
        """,
        "date": """
            {p} starts at {org1} on {date1}. => {p} starts at {org1} on {date2}.
            The {proj} review is every {day1}. => The {proj} review is every {day2}.
            The {proj} lease ends in {month1}. => The {proj} lease ends in {month2}.
            The {proj} standup is at {time1}. => The {proj} standup is at {time2} now.
        """,
        "none": """
            {p} speaks {language1}. => {p} speaks {language2}.
            {p} starts at {org1} on {date1}. => The {proj} review is every {day2}.
            {p} owns a boat. => {p} owns a house.
            The {proj} cluster has {s1} nodes. => The {proj2} cluster has {s2} nodes.
            {p} resides in {city1}. => {p} grew up in {city2}.
            {p} always picks {color1} shirts. => {p} always picks {drink1} after lunch.
            {p} wants to learn {language1}. => {p} wants to learn {code1}.
            {q} leads {proj}. => {r} leads {proj2}.
            {p} will attend the {proj} kickoff. => {q} won't attend the {proj} kickoff.
            Room {s1} is booked for {proj}. => Room {s2} is booked for {proj}.
            {p} bought {s1} monitors in {month1}. => {p} bought {s2} monitors in {month2}.
            {p} flew to {city1} with {q}. => {p} flew to {city2} with {r}.
        """,
    },
)

SEALED = {
    "preference": """
        When coding, {p} prefers {editor1}. => When coding, {p} prefers {editor2}.
        {p}'s favourite food is {food1}. => {p}'s favourite food is {food2} now.
        Please write to {p} in {language1}, as {p} prefers {language1}. => {p} prefers {language2}.
        I prefer {theme1} themes. => I prefer {theme2} themes.
    """,
    "value": """
        {p} now lives in {city1} with the kids. => {p} relocated to {city2}.
        {p} works for {org1} as a nurse. => {p} joined {org2} last month.
        The owner of {proj} is {q}. => The owner of {proj} is {r}.
        {p}'s home town is {city1}. => {p}'s home town is {city2}.
        The logo of {proj} is {color1}. => The logo of {proj} is {color2}.
    """,
    "opposite": """
        Notifications for {proj} are turned on. => Notifications for {proj} are turned off.
        The {proj} wiki is public. => The {proj} wiki is private.
        {p} accepted the offer from {org1}. => {p} declined the offer from {org1}.
        {p} is married. => {p} is single.
    """,
    "negation": """
        {p} drinks {drink1}. => {p} doesn't drink {drink1}.
        {p} is a vegetarian. => {p} is not a vegetarian anymore.
        {proj} needs a VPN. => {proj} does not need a VPN.
        {p} knows the password of {proj}. => {p} doesn't know the password of {proj}.
    """,
    "number": """
        {p} has {s1} unread messages. => {p} has {s2} unread messages.
        {proj} stores {n1} documents. => {proj} now stores {n2} documents.
        {p}'s desk is number {n1}. => {p}'s desk is number {n2}.
        The {proj} license allows {s1} users. => The {proj} license allows {s2} users.
    """,
    "date": """
        {p} gets married on {date1}. => {p} gets married on {date2}.
        The {proj} freeze begins on {iso1}. => The {proj} freeze begins on {iso2}.
        {p} has yoga on {day1}. => {p} has yoga on {day2}.
        The flight of {p} leaves at {time1}. => The flight of {p} leaves at {time2}.
    """,
    "none": """
        {p} drinks {drink1}. => {p} drinks {drink2}.
        {p} has a dog called Rex. => {p} has a cat called Tom.
        {p} accepted the offer from {org1}. => {p} declined the offer from {org2}.
        The owner of {proj} is {q}. => The tester of {proj} is {r}.
        {p} gets married on {date1}. => {q} gets married on {date2}.
        {p} once worked for {org1}. => {p} works for {org2}.
        {p} has yoga on {day1}. => {p} has chess on {day2}.
        {p} read chapter {s1} of the book. => {p} read chapter {s2} of the book.
        {proj} needs a VPN. => {proj2} does not need a VPN.
        {p} is taller than {q}. => {p} is older than {r}.
    """,
}

TEXTS = Texts(
    opened=OPENED,
    held=HELD,
    sealed=SEALED,
    values={
        "drink": ("tea", "coffee", "orange juice", "hot chocolate", "sparkling water", "green tea", "espresso"),
        "color": ("blue", "green", "red", "orange", "purple"),
        "editor": ("Vim", "Emacs", "VSCode", "Helix"),
        "language": ("English", "Spanish", "German", "Korean"),
        "theme": ("dark", "light"),
        "city": ("Oslo", "Bergen", "Lisbon", "New York", "Nairobi", "Kraków"),
        "org": ("Acme", "Globex", "Initech", "Umbrella Logistics", "NASA"),
        "db": ("PostgreSQL", "MySQL", "SQLite", "MongoDB", "DuckDB"),
        "role": ("lead", "owner", "tester", "architect"),
        "code": ("Python", "Rust", "Go", "TypeScript"),
        "food": ("peanuts", "sushi", "pizza", "mushrooms", "olives"),
        "n": ("8080", "9090", "5432", "12000", "15000", "2500"),
        "s": ("4", "8", "16", "31", "42", "64"),
        "date": ("March 3", "12 May", "June 21, 2026", "the 5th of October", "November 30"),
        "month": ("March", "May", "August", "October"),
        "day": ("Monday", "Tuesday", "Thursday", "Friday"),
        "iso": ("2026-03-01", "2026-04-15", "2026-09-30"),
        "time": ("9:30", "14:00", "4 pm", "10 am"),
        "pair": ("tabs", "spaces", "cats", "dogs"),
    },
    unrelated=(
        "Can you write a haiku about the sea?", "Fix the off-by-one error in this loop please", "What is the capital of France?",
        "Translate this sentence into Latin", "Summarise the attached document in three bullet points",
        "Why is the sky blue?", "Give me a recipe for banana bread", "How many moons does Jupiter have?",
        "Rename the variable foo to bar", "What's the square root of 1764?", "Tell me a joke about penguins",
        "Explain recursion to a child", "Generate a random password of 20 characters", "Draw an ASCII cat",
        "Which chess opening is best for beginners?", "Convert 30 miles to kilometres", "Who painted the Mona Lisa?",
        "Sort this list alphabetically", "How do vaccines work?", "Compose a polite decline to a wedding invitation",
    ),
    strangers=("Quentin Blackwood", "Ophelia", "Zoltan Kovács", "Rosalind Achebe", "Thaddeus", "Bartholomew Finch"),
)  # fmt: skip
