/** English prose in four registers: story, report, technical note and letter. */
import { choices, fill, grow } from "./random.ts";

const SLOTS = {
  person: [
    "Margaret",
    "the old ferryman",
    "Dr. Okafor",
    "my neighbour",
    "Elias",
    "the younger sister",
    "Mr. Pemberton",
    "Anjali",
  ],
  place: [
    "harbour",
    "railway station",
    "village of Thornwick",
    "reading room",
    "kitchen garden",
    "upper valley",
    "courthouse",
    "bakery on Mill Lane",
  ],
  weather: [
    "The rain had not let up since noon",
    "A thin frost lay over the fields",
    "It was one of those bright, windless mornings",
    "Fog crept in from the estuary",
    "By evening the heat had become unbearable",
  ],
  feeling: [
    "relieved",
    "vaguely ashamed",
    "curious",
    "too tired to argue",
    "oddly cheerful",
    "suspicious",
    "homesick",
  ],
  thing: [
    "lantern",
    "bundle of letters",
    "brass key",
    "half-finished sketch",
    "loaf of bread",
    "pocket watch",
    "ledger",
  ],
  topic: [
    "coastal erosion",
    "household debt",
    "the new vaccination programme",
    "wheat prices",
    "rural broadband",
    "teacher shortages",
    "freight traffic",
  ],
  region: [
    "northern Portugal",
    "the Great Lakes",
    "Gujarat",
    "the Scottish Borders",
    "Queensland",
    "central Chile",
  ],
  system: [
    "the scheduler",
    "our message queue",
    "the caching layer",
    "the import job",
    "the authentication service",
    "the search index",
    "the retry logic",
  ],
  effect: [
    "stalls under load",
    "drops the oldest entries",
    "returns stale results",
    "leaks a file handle",
    "doubles the latency",
    "refuses new connections",
  ],
  remedy: [
    "raising the timeout",
    "moving the check out of the loop",
    "bounding the queue",
    "adding an index on the foreign key",
    "reverting the last migration",
    "pinning the dependency",
  ],
  number: ["three", "eleven", "about forty", "two hundred", "a dozen", "nearly 1,900", "37", "5.4 million"],
} as const;

const STORY = [
  "{weather}, and {person} stood at the window with a {thing} in one hand, listening.",
  '"You might have told me," said {person}, though without much conviction, and set the {thing} down on the table between them.',
  "Nobody in the {place} remembered exactly when the quarrel had begun; it had simply always been there, like the smell of the river.",
  "She walked the whole length of the {place} before she allowed herself to look back, and by then there was nothing to see.",
  "He was {feeling}, which surprised him, because he had expected to feel nothing at all.",
  "For {number} years the {thing} had lain at the bottom of the drawer, wrapped in a handkerchief that smelled faintly of camphor.",
  "They ate in silence. Outside, a dog barked twice and thought better of it.",
  "{person} had a way of laughing with the shoulders only, as if the joke were a private matter.",
  '"Well?" "Well what?" "Are you going to open it, or shall we stand here until Michaelmas?"',
  "What frightened the child was not the darkness itself but the sense that somebody had only just left it.",
  "It took {person} most of the afternoon to reach the {place}, and the best part of an hour to find anyone willing to talk.",
];

const REPORT = [
  "Officials in {region} said on Thursday that {topic} had become the most pressing issue facing local government this year.",
  "According to figures published by the statistics office, spending on {topic} rose by {number} per cent compared with the same quarter a year earlier.",
  "Critics argue that the measures are too little and come too late; supporters counter that nothing comparable has been attempted since 1987.",
  "The committee heard evidence from {number} witnesses, among them economists, farmers and a former minister.",
  "In {region}, where unemployment remains stubbornly high, the announcement was greeted with cautious optimism.",
  "A spokesperson declined to comment on individual cases, citing ongoing legal proceedings.",
  "Researchers followed {number} households over a decade and found that {topic} explained less of the variation than had long been assumed.",
  "If approved, the plan would take effect in January and be reviewed after eighteen months.",
];

const TECHNICAL = [
  "When the connection pool is exhausted, {system} {effect}, and the symptom you see first is usually somewhere else entirely.",
  "We fixed this by {remedy}; the change is small, but please read the note on backwards compatibility before you upgrade.",
  "Note that the order of these steps matters: if you restart the worker before the migration has finished, {system} {effect}.",
  "The default is deliberately conservative. Most deployments can double it without any visible downside.",
  "To reproduce, start two instances against the same database, wait until both report ready, and kill the first one.",
  "I looked at the traces again and I no longer think the garbage collector is to blame; {system} simply {effect} whenever the payload exceeds 64 kB.",
  "In short, {remedy} buys us time, but it does not address the underlying problem, which is that nobody owns the configuration.",
  "This function must be idempotent, since the queue guarantees at-least-once delivery and will happily hand you the same message twice.",
  "- Prefer composition over inheritance here; the base class has grown to {number} methods.\n- Avoid **global** state in `config`.\n- See the [design notes](docs/design.md) for the reasoning.",
];

const LETTER = [
  "Thanks so much for your message, and sorry it's taken me this long to get back to you - it's been one of those weeks!",
  "Could you let me know by Friday whether {number} chairs will be enough, or should I ask {person} to bring a few more?",
  "I've attached the revised draft; the only real changes are in the second section, where I tried to say a bit more about {topic}.",
  "Honestly, I wasn't sure at first, but after sleeping on it I think you're right and we shouldn't rush this.",
  "We're all fine here. The garden's a mess, the cat's too fat, and I'm {feeling} about the new job.",
  "Please don't hesitate to call if anything's unclear; I'll be at my desk until six or so.",
];

export function englishProse(length: number, seed = 11): string {
  const from = choices(seed);
  const registers = [STORY, REPORT, TECHNICAL, LETTER];
  return grow(length, "\n\n", () => {
    const register = from.pick(registers);
    const sentences = Array.from({ length: from.between(3, 7) }, () =>
      fill(from.pick(register), SLOTS, from),
    );
    return sentences.join(" ");
  });
}
