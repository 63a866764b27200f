// Measures a compaction from notes, and compares its cost with one JSON.stringify of the conversation. Also
// checks that an update of notes without a model costs only the new part.

import { ESTIMATORS } from "@longhaul/core/measure";
import { flatten } from "@longhaul/core/request";
import { sessionNotes } from "@longhaul/notes";
import { updateNotes } from "../packages/notes/src/built-in/update-notes.ts";
import { emptyNotes, formatNotes } from "../packages/notes/src/notes-format.ts";
import { notesLimitsFor } from "../packages/notes/src/notes-keeper.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../packages/notes/src/template.ts";
import { HeldNotes } from "../test/engine/notes-file.case.ts";
import { claim } from "./claims.mjs";
import { Host } from "./engine/host.mjs";
import { leastMs, warmUp } from "./engine/steps.mjs";
import { conversationOf } from "./session.mjs";
import { milliseconds, table, times } from "./table.mjs";

const SIZES = [50_000, 200_000, 1_000_000];
const MAX_STRINGIFY = 1;
const MAX_UPDATE_GROWTH = 2;
/** Number of new messages when notes are updated: about 5,000 tokens. */
const FRESH_ENTRIES = 8;
const SAMPLES = 25;
const QUICK_SAMPLES = 7;

/** Returns a window twice as large as the conversation, so that the engine does nothing automatically. */
const windowFor = (tokens) => tokens * 2;

const template = parseTemplate(NOTES_TEMPLATE);
const notesOf = (notes, fresh, tokens) =>
  updateNotes(notes, fresh, {
    limits: notesLimitsFor({ size: windowFor(tokens) }),
    countTokens: ESTIMATORS.o200k,
  });

function materialOf(tokens) {
  const { entries: before, next } = conversationOf(tokens);
  const entries = [...before, next];
  const older = entries.slice(0, -FRESH_ENTRIES);
  const notes = { ...notesOf(emptyNotes(template), older, tokens), coveredUuid: older.at(-1).uuid };
  return { tokens, entries, messages: flatten(entries), notes, fresh: entries.slice(-FRESH_ENTRIES) };
}

const STEPS = [
  { name: "JSON.stringify of the conversation", prepare: ({ entries }) => entries, run: JSON.stringify },
  {
    name: "compact() from notes, everything included",
    ours: true,
    changes: true,
    prepare: async (conversation) => {
      const file = new HeldNotes(formatNotes(conversation.notes));
      const host = new Host({
        window: { tokens: windowFor(conversation.tokens) },
        form: "entries",
        // The session was recorded long ago. If clearing were on, the engine would clear the old results, and
        // a compaction from notes would not pay.
        clearing: { form: "off" },
        modules: [sessionNotes({ file })],
      });
      await host.open(conversation);
      return host;
    },
    run: async ({ compactor, messages }) => {
      const { compaction } = await compactor.compact(messages);
      if (compaction?.written.source !== "notes") throw new Error("not compacted from notes");
      return compaction;
    },
  },
  {
    name: `built-in notes, ${FRESH_ENTRIES} new messages`,
    ours: true,
    prepare: (conversation) => conversation,
    run: ({ notes, fresh, tokens }) => notesOf(notes, fresh, tokens),
  },
];

export async function run({ isQuick }) {
  const conversations = SIZES.map(materialOf);
  const rows = STEPS.map((step) => ({ step, ms: [] }));
  for (const { step, ms } of rows) {
    await warmUp(step, conversations[0]);
    for (const [at, conversation] of conversations.entries()) {
      ms[at] = await leastMs(step, conversation, isQuick ? QUICK_SAMPLES : SAMPLES);
    }
  }
  const [stringify, compact, update] = rows.map(({ ms }) => ms);
  const worst = Math.max(...compact.map((ms, at) => ms / stringify[at]));
  return {
    text: table(
      "Memory",
      [
        "conversation of … tokens",
        ...SIZES.map((size) => (size >= 1e6 ? `${size / 1e6}M` : `${size / 1e3}K`)),
      ],
      rows.map(({ step, ms }) => ({ ours: step.ours, cells: [step.name, ...ms.map(milliseconds)] })),
      ["Least of several calls, warm. The turns have counted everything before, as in a running agent."],
    ),
    claims: [
      claim(
        "compaction from notes, of JSON.stringify, worst size",
        "≤ 1×",
        worst,
        (ratio) => ratio <= MAX_STRINGIFY,
      ),
      claim(
        "built-in update of notes, 1M against 50K",
        "≤ 2×",
        update.at(-1) / update[0],
        (ratio) => ratio <= MAX_UPDATE_GROWTH,
        times,
      ),
    ],
  };
}
