import type { Stance } from "./types.ts";
import { isNegation, normalForm, tokensOf } from "./words.ts";

/** Titles of sections in summaries of several agents, matched at the start of the title in normal form. */
const TITLES: readonly (readonly [stances: readonly Stance[], titles: readonly string[]])[] = [
  [
    ["quote"],
    [
      "all user messages",
      "user messages",
      "messages of the user",
      "messages from the user",
      "what the user said",
    ],
  ],
  [
    ["history"],
    ["analysis", "chronology", "timeline", "history", "conversation summary", "conversation history"],
  ],
  [
    ["goal"],
    [
      "primary request",
      "primary goal",
      "goal",
      "goals",
      "objective",
      "session intent",
      "intent",
      "user request",
      "user intent",
      "request",
      "task description",
      "task specification",
      "task",
      "purpose",
    ],
  ],
  [
    ["rule"],
    [
      "constraints",
      "constraint",
      "rules",
      "standing rules",
      "instructions",
      "user preferences",
      "preferences",
      "requirements",
    ],
  ],
  [
    ["next"],
    [
      "optional next step",
      "next step",
      "next steps",
      "next action",
      "next actions",
      "immediate next",
      "what comes next",
      "then",
    ],
  ],
  [
    ["pending"],
    [
      "pending",
      "remaining",
      "open items",
      "open tasks",
      "open work",
      "open",
      "todo",
      "todos",
      "to do",
      "outstanding",
      "unfinished",
      "not done",
      "blocked",
      "left to do",
      "context for continuing",
    ],
  ],
  [
    ["current"],
    [
      "current work",
      "current state",
      "current status",
      "current task",
      "in progress",
      "status",
      "where we are",
      "state of work",
    ],
  ],
  [
    ["done"],
    [
      "done",
      "completed",
      "work completed",
      "finished",
      "accomplished",
      "closed",
      "what was done",
      "completed work",
      "completed tasks",
      "merged",
      "resolved",
    ],
  ],
  [
    ["cancelled"],
    [
      "cancelled",
      "canceled",
      "superseded",
      "dropped",
      "abandoned",
      "no longer wanted",
      "rejected",
      "withdrawn",
    ],
  ],
  [
    [],
    [
      "key technical concepts",
      "technical concepts",
      "concepts",
      "key decisions",
      "decisions",
      "files",
      "files and code",
      "relevant files",
      "errors",
      "errors and fixes",
      "problem solving",
      "findings",
      "progress",
      "summary",
      "artifacts",
      "critical context",
      "notes",
      "learnings",
      "key results",
      "worklog",
      "workflow",
    ],
  ],
];
/** A longer line is a sentence. */
const MAX_TITLE_WORDS = 8;

const HASHES = /^\s{0,3}(#{1,6})\s/;

export interface Heading {
  readonly title: string;
  /** Number of hashes. 0 for a title without hashes. */
  readonly level: number;
  /** Undefined for a heading with an unknown title. */
  readonly stances: readonly Stance[] | undefined;
}

/** Reads a line as a heading: a known title, or any line with hashes. */
export function headingOf(line: string): Heading | undefined {
  const level = HASHES.exec(line)?.[1]?.length ?? 0;
  if (level === 0 && !isBareTitle(line)) return undefined;
  const tokens = tokensOf(line);
  const title = titleTokens(tokens).join(" ");
  if (title === "" || tokens.length > MAX_TITLE_WORDS + 1)
    return level === 0 ? undefined : unknown(title, level);
  const stances = titleStances(title, level > 0);
  if (stances === undefined) return level === 0 ? undefined : unknown(title, level);
  return { title, level, stances };
}

const unknown = (title: string, level: number): Heading => ({ title, level, stances: undefined });

/** A line without hashes is a title if it is not a sentence and not an item with marks. */
function isBareTitle(line: string): boolean {
  const text = line.trim();
  return !/^[-+>•]|\[[ x~]\]|[.!?,;`]$|~~/i.test(text) && !/^\*\s/.test(text);
}

/** Drops the number of a section. */
const titleTokens = (tokens: readonly string[]): readonly string[] =>
  /^\d{1,2}$/.test(tokens[0] ?? "") ? tokens.slice(1) : tokens;

/** With hashes, a title may be longer. Without them, only a known title counts as a whole, with few words more. */
const MAX_EXTRA_WORDS = 4;

/** Nouns after a title of one word, as in "Pending tasks". */
const TITLE_NOUNS = new Set(
  "tasks task items item work steps step issues todos list and questions notes".split(" "),
);

const isNoun = (title: string, known: string): boolean =>
  title
    .slice(known.length)
    .split(" ")
    .every((word) => word === "" || TITLE_NOUNS.has(word));

function titleStances(title: string, isHash: boolean): readonly Stance[] | undefined {
  let best: { length: number; stances: readonly Stance[] } | undefined;
  for (const [stances, titles] of TITLES) {
    for (const known of titles) {
      const isSame = title === known || title.startsWith(`${known} `);
      const extra = title.split(" ").length - known.split(" ").length;
      const isShort =
        isHash || extra <= 0 || isNoun(title, known) || (known.includes(" ") && extra <= MAX_EXTRA_WORDS);
      if (isSame && isShort && known.length > (best?.length ?? 0)) best = { length: known.length, stances };
    }
  }
  return best?.stances;
}

/** Marks of items, which stand in the raw text. */
const MARKS: readonly (readonly [Stance, RegExp])[] = [
  ["done", /\[x\]|\[done\]|☑|✅|✔/i],
  ["pending", /\[ \]|☐|\[pending\]|\[open\]/i],
  ["current", /\[~\]|\[in[ _-]progress\]|\[active\]/i],
  ["cancelled", /~~[^~]{1,400}~~|\[(?:cancell?ed|superseded|dropped)\]/i],
  ["passed", /✓|✅|✔/],
  ["failed", /✗|✘|❌|\[failed\]/i],
];

/** Words of each stance. A negation before the word turns "passed" into "failed", and removes the others. */
const STANCE_WORDS: Readonly<Record<string, Stance>> = Object.fromEntries(
  (
    [
      ["goal", "goal objective intent"],
      ["done", "done completed complete finished merged committed implemented"],
      ["pending", "pending remaining outstanding todo unresolved unfinished open"],
      ["current", "ongoing"],
      [
        "cancelled",
        "cancelled canceled superseded abandoned withdrawn dropped obsolete revoked rejected skipped scrapped",
      ],
      [
        "passed",
        "pass passes passed passing green clean succeeds succeeded success successful successfully ok",
      ],
      [
        "failed",
        "fail fails failed failing failure failures broken broke errors crash crashes crashed red unverified",
      ],
      ["fixed", "fixed resolved repaired solved"],
    ] as const
  ).flatMap(([stance, words]) => words.split(" ").map((word) => [word, stance])),
);

/** Phrases of several words, in normal form. */
const PHRASES: readonly (readonly [Stance, readonly string[]])[] = [
  [
    "goal",
    [
      "user asked",
      "user wants",
      "user wanted",
      "user requested",
      "asked to",
      "the request is",
      "user s request",
      "user's request",
    ],
  ],
  [
    "pending",
    [
      "still need",
      "still needs",
      "still to",
      "not yet",
      "to do",
      "left to",
      "yet to be",
      "needs to be",
      "need to be",
      "must still",
      "remains to",
      "not seen to pass",
      "not verified",
      "not done",
      "not finished",
      "not started",
    ],
  ],
  ["next", ["next step", "continue with", "continue by", "up next"]],
  [
    "current",
    [
      "in progress",
      "working on",
      "being worked",
      "right now",
      "at the moment",
      "was just",
      "have just",
      "had just",
      "i just",
    ],
  ],
  [
    "cancelled",
    [
      "no longer",
      "not needed",
      "taken back",
      "called off",
      "ruled out",
      "changed his mind",
      "changed their mind",
    ],
  ],
  ["failed", ["not pass", "not seen to pass", "never passed", "does not work", "not working"]],
];
/** A negation reaches this many words ahead. */
const NEGATION_REACH = 3;
const ZERO = new Set(["0", "zero"]);

/** "Should pass now" is a hope and no result. */
const MODALS = new Set("should will would must might may could to until expect expected expects".split(" "));
const isOutcome = (stance: Stance): boolean => stance === "passed" || stance === "fixed";

/** Returns the stances that the words and marks of a line give to it. */
export function lineStances(raw: string, tokens: readonly string[]): Set<Stance> {
  const stances = new Set<Stance>();
  for (const [stance, mark] of MARKS) if (mark.test(raw)) stances.add(stance);
  // Inside a sentence, "the next phase" names no step.
  if (tokens[0] === "next") stances.add("next");
  const text = ` ${tokens.join(" ")} `;
  for (const [stance, phrases] of PHRASES) {
    if (phrases.some((phrase) => text.includes(` ${phrase} `))) stances.add(stance);
  }
  for (const [index, token] of tokens.entries()) {
    const stance = Object.hasOwn(STANCE_WORDS, token) ? STANCE_WORDS[token] : undefined;
    if (stance === undefined) continue;
    const before = tokens.slice(Math.max(0, index - NEGATION_REACH), index);
    if (isOutcome(stance) && before.some((word) => MODALS.has(word))) {
      stances.add("pending");
      continue;
    }
    const isNegated = before.some((word) => word !== "only" && (isNegation(word) || ZERO.has(word)));
    const turned = isNegated ? NEGATED[stance] : stance;
    if (turned !== undefined) stances.add(turned);
  }
  return stances;
}

const NEGATED: Readonly<Partial<Record<Stance, Stance>>> = {
  passed: "failed",
  fixed: "failed",
  failed: "passed",
  done: "pending",
};

/** A label before a colon ("Next: ...") gives its stance to its line. */
const MAX_LABEL_CHARS = 40;

export function labelStances(raw: string): readonly Stance[] {
  const colon = raw.indexOf(":");
  if (colon === -1 || colon > MAX_LABEL_CHARS) return [];
  return titleStances(normalForm(raw.slice(0, colon)), false) ?? [];
}

/**
 * Returns the stances that the source itself does not have. A rule such as "never merge a branch that is not
 * green" contains words of stances, and a quote of it is not a statement about its state.
 */
export function notSaidIn(source: string, stances: readonly Stance[]): readonly Stance[] {
  const said = lineStances(source, tokensOf(source));
  return stances.filter((stance) => !said.has(stance));
}
