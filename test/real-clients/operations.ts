import type { Cell } from "./cell.ts";
import { HEAVY_WORD, OVERFLOW_WORD } from "./provider.ts";
import type { Turn } from "./script.ts";

/** One row of the matrix: an operation on the session before the client resumes it. */
export interface Operation {
  readonly name: string;
  run(cell: Cell): Promise<void>;
}

/** Sets a window for auto-compact. Only the reported usage of a heavy prompt exceeds this window. */
const AUTO_COMPACT_ENV = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" };

/** Tokens for `--keep-recent`: about three turns of the scenario. */
const SOME_TOKENS = "9000";

const compact = (cell: Cell): Promise<void> => cell.compact({ what: "recent" });
const more = (cell: Cell): Promise<void> => cell.work(cell.scenario.more());

/** Returns a prompt by its distance from the newest one. */
function prompt(cell: Cell, fromEnd: number): string {
  const marker = cell.prompts.at(-fromEnd);
  if (marker === undefined) throw new Error(`The conversation has fewer than ${fromEnd} prompts.`);
  return marker;
}

function upTo(cell: Cell, fromEnd: number): Promise<void> {
  const marker = prompt(cell, fromEnd);
  return cell.compact({ what: "from", marker }, ["--up-to", cell.uuid(marker)]);
}

function from(cell: Cell, fromEnd: number): Promise<void> {
  const marker = prompt(cell, fromEnd);
  return cell.compact({ what: "before", marker }, ["--from", cell.uuid(marker)]);
}

async function fromNotes(cell: Cell): Promise<void> {
  await cell.longhaul(["notes", cell.path, "--update"]);
  await cell.compact({ what: "recent" }, ["--from-notes"]);
}

const byModel = (cell: Cell): Promise<void> =>
  cell.compact({ what: "recent" }, ["--model", cell.place.model, "--base-url", cell.place.url]);

/** Makes the provider report a large usage for one turn, so that the client compacts before the next turn. */
async function theirsAuto(cell: Cell): Promise<void> {
  await cell.turn(withWord(cell, HEAVY_WORD));
  await cell.theirsBefore(cell.scenario.chat("Work on."), AUTO_COMPACT_ENV);
}

/**
 * Makes the provider refuse the prompt as too long, so that the client compacts and sends the prompt again.
 */
const theirsOverflow = (cell: Cell): Promise<void> => cell.theirsBefore(withWord(cell, OVERFLOW_WORD), {});

function withWord(cell: Cell, word: string): Turn {
  const { prompt: text, steps } = cell.scenario.probe();
  return { prompt: `${word} ${text}`, steps };
}

/** Every operation of the command line, the client's own compactions, and chains of both. */
export const OPERATIONS: readonly Operation[] = [
  { name: "no operation", run: async () => {} },
  { name: "compact", run: compact },
  {
    name: "compact --keep-recent N",
    run: (cell) => cell.compact({ what: "recent" }, ["--keep-recent", SOME_TOKENS]),
  },
  {
    name: "compact --keep-recent 0",
    run: (cell) => cell.compact({ what: "nothing" }, ["--keep-recent", "0"]),
  },
  { name: "compact --up-to", run: (cell) => upTo(cell, 6) },
  { name: "compact --from", run: (cell) => from(cell, 6) },
  { name: "compact --from-notes", run: fromNotes },
  { name: "compact --model", run: byModel },
  { name: "compact --out", run: (cell) => cell.compactOut({ what: "recent" }) },
  { name: "clear", run: (cell) => cell.clear(3) },
  { name: "compact, undo", run: chain(compact, (cell) => cell.undo()) },
  {
    name: "compact, undo, redo",
    run: chain(
      compact,
      (cell) => cell.undo(),
      (cell) => cell.redo(),
    ),
  },
  { name: "compact, work, undo", run: chain(compact, more, (cell) => cell.undo()) },
  { name: "compact, undo, compact", run: chain(compact, (cell) => cell.undo(), compact) },
  { name: "compact, work, compact", run: chain(compact, more, compact) },
  {
    name: "up-to, from",
    run: chain(
      (cell) => upTo(cell, 8),
      (cell) => from(cell, 3),
    ),
  },
  {
    name: "from, up-to",
    run: chain(
      (cell) => from(cell, 4),
      (cell) => upTo(cell, 3),
    ),
  },
  {
    name: "from, work, up-to",
    run: chain(
      (cell) => from(cell, 4),
      more,
      (cell) => upTo(cell, 3),
    ),
  },
  {
    name: "up-to, work, up-to",
    run: chain(
      (cell) => upTo(cell, 8),
      more,
      (cell) => upTo(cell, 3),
    ),
  },
  {
    name: "from, work, from",
    run: chain(
      (cell) => from(cell, 8),
      more,
      (cell) => from(cell, 2),
    ),
  },
  { name: "from-notes, work, from-notes", run: chain(fromNotes, more, fromNotes) },
  {
    name: "clear, compact, undo",
    run: chain(
      (cell) => cell.clear(3),
      compact,
      (cell) => cell.undo(),
    ),
  },
  {
    name: "clear, undo",
    run: chain(
      (cell) => cell.clear(3),
      (cell) => cell.undo(),
    ),
  },
  { name: "theirs (/compact)", run: (cell) => cell.theirs() },
  { name: "theirs (auto)", run: theirsAuto },
  { name: "theirs (prompt too long)", run: theirsOverflow },
  { name: "theirs (prompt too long), ours", run: chain(theirsOverflow, compact) },
  { name: "theirs, work, ours", run: chain((cell) => cell.theirs(), more, compact) },
  { name: "theirs (auto), work, ours", run: chain(theirsAuto, more, compact) },
  {
    name: "theirs, work, ours --keep-recent 0",
    run: chain(
      (cell) => cell.theirs(),
      more,
      (cell) => cell.compact({ what: "nothing" }, ["--keep-recent", "0"]),
    ),
  },
  {
    name: "theirs, work, up-to",
    run: chain(
      (cell) => cell.theirs(),
      more,
      (cell) => upTo(cell, 2),
    ),
  },
  {
    name: "theirs, work, from",
    run: chain(
      (cell) => cell.theirs(),
      more,
      (cell) => from(cell, 2),
    ),
  },
  {
    name: "theirs, work, undo",
    run: chain(
      (cell) => cell.theirs(),
      more,
      (cell) => cell.undo(),
    ),
  },
  { name: "ours, work, theirs", run: chain(compact, more, (cell) => cell.theirs()) },
  {
    name: "theirs, ours, theirs, ours",
    run: chain(
      (cell) => cell.theirs(),
      more,
      compact,
      more,
      (cell) => cell.theirs(),
      more,
      compact,
    ),
  },
];

type Part = (cell: Cell) => Promise<void>;

function chain(...parts: readonly Part[]): Part {
  return async (cell) => {
    for (const part of parts) await part(cell);
  };
}
