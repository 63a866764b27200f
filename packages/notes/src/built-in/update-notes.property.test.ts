import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { isRequest } from "../../../core/src/compaction/summary/readers/exchanges.ts";
import { digestSession } from "../../../core/src/compaction/summary/readers/readers.ts";
import { soundCuts } from "../../../core/src/messages/pairs.ts";
import { withoutControls } from "../../../core/src/messages/text.ts";
import type { Notes, NotesLimits } from "../notes-format.ts";
import { emptyNotes, formatNotes, measureNotes, parseNotes } from "../notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../template.ts";
import { readBody } from "./note-items.ts";
import { updateNotes } from "./update-notes.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);
const template = parseTemplate(NOTES_TEMPLATE);
const bodyOf = (notes: Notes, name: string): string =>
  notes.sections.find(({ heading }) => heading === `# ${name}`)?.body ?? "";

const junk = fc.jsonValue({ maxDepth: 3 });
const word = fc.constantFrom(
  ...[
    "fix",
    "the",
    "parser",
    "in",
    "`src/a.ts`",
    "no,",
    "don't",
    "# Current State",
    "```",
    "- item",
    "\n",
    "\n\n",
  ],
  ...[
    "because",
    "root cause",
    "…",
    '"quoted"',
    "→",
    "(2 older items left out: see the transcript)",
    "\r\n",
    "\uFEFF",
  ],
  ...["_italic_", "next step", "?", "\u2028", "[in progress]", "`", "~~~", "  ", "🙂", "日本語。"],
);
const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(" "));
const path = fc.oneof(fc.constantFrom("/project/src/a.ts", "/project/b`c.ts", "/tmp/x.md", "rel/d.py"), text);
const command = fc.oneof(
  fc.constantFrom("npm test", "cd x && npm run build | tail", "git commit -m x"),
  text,
);

const block = fc.oneof(
  junk,
  fc.record({ type: fc.constant("text"), text }),
  fc.record(
    {
      type: fc.constantFrom("tool_use", "tool_result", "image", "thinking", "nonsense"),
      id: fc.constantFrom("a", "b"),
      tool_use_id: fc.constantFrom("a", "b", "c"),
      name: fc.constantFrom(
        ...["Bash", "Edit", "Write", "Read", "TodoWrite", "TaskCreate", "TaskUpdate", "Agent"],
        ...["AskUserQuestion", "ExitPlanMode", "MultiEdit", "other"],
      ),
      input: fc.oneof(
        junk,
        fc.record({ command, description: text }),
        fc.record({ file_path: path, old_string: text, new_string: text }),
        fc.record({ todos: fc.array(fc.record({ content: text, status: junk })), plan: text, subject: text }),
      ),
      content: fc.oneof(junk, text, fc.constant("Async agent launched\nagentId: abc1")),
      is_error: fc.oneof(fc.boolean(), junk),
    },
    { requiredKeys: ["type"] },
  ),
);
const entry = fc.record(
  {
    type: fc.constantFrom(
      "user",
      "assistant",
      "attachment",
      "system",
      "progress",
      "queue-operation",
      "other",
    ),
    message: fc.oneof(
      junk,
      fc.record({ content: fc.oneof(text, fc.array(block, { maxLength: 4 })), model: junk }),
    ),
    attachment: fc.oneof(
      junk,
      fc.record({
        type: fc.constantFrom("queued_command", "edited_text_file"),
        prompt: text,
        filename: path,
      }),
    ),
    operation: fc.constantFrom("enqueue", "dequeue"),
    content: fc.oneof(junk, text),
    toolUseResult: junk,
    isMeta: fc.oneof(fc.boolean(), junk),
    isCompactSummary: fc.oneof(fc.boolean(), junk),
    isSidechain: junk,
    todos: junk,
    cwd: fc.oneof(path, junk),
    gitBranch: fc.oneof(text, junk),
  },
  { requiredKeys: ["type"] },
);
const entries = fc.array(fc.oneof(entry, junk), { maxLength: 12 }).map((list) => list as unknown as Entry[]);

/** Notes that were written and parsed again, like notes from a file. */
const notes = fc
  .array(text, { minLength: template.sections.length, maxLength: template.sections.length })
  .map((bodies) => {
    const sections = template.sections.map((section, at) => ({ ...section, body: bodies[at] ?? "" }));
    return parseNotes(formatNotes({ preface: "", sections, coveredUuid: undefined }), template);
  });
const limits = fc
  .record({
    sectionTokens: fc.integer({ min: 0, max: 400 }),
    totalTokens: fc.integer({ min: 0, max: 2_400 }),
  })
  .map((found): NotesLimits => found);

describe("updateNotes, for any entries and any notes", () => {
  it("updateNotes keeps notes within both limits and leaves every heading and italic line unchanged", () => {
    fc.assert(
      fc.property(notes, entries, limits, (before, fresh, within) => {
        const after = updateNotes(deepFreeze(before), deepFreeze(fresh), { limits: within, countTokens });
        if (after === before) return;
        const size = measureNotes(after, countTokens);
        expect(size.tokens).toBeLessThanOrEqual(within.totalTokens);
        for (const { tokens } of size.sections) expect(tokens).toBeLessThanOrEqual(within.sectionTokens);
        expect(parseNotes(formatNotes(after), template)).toEqual(after);
        expect(after.sections.map(({ heading, guide }) => ({ heading, guide }))).toEqual(template.sections);
      }),
      { numRuns: 300 },
    );
  });

  it("updateNotes returns the same result for the same notes and entries", () => {
    fc.assert(
      fc.property(notes, entries, limits, (before, fresh, within) => {
        const options = { limits: within, countTokens };
        expect(updateNotes(before, fresh, options)).toEqual(
          updateNotes(structuredClone(before), structuredClone(fresh), options),
        );
      }),
      { numRuns: 100 },
    );
  });

  it("updateNotes returns the identical notes object when there are no new entries", () => {
    fc.assert(
      fc.property(notes, limits, (before, within) => {
        expect(updateNotes(before, [], { limits: within, countTokens })).toBe(before);
      }),
      { numRuns: 100 },
    );
  });
});

type Step = { readonly say: string } | { readonly reply: string } | { readonly edit: string };

const said = fc.oneof(
  fc.lorem({ maxCount: 40 }),
  text,
  fc.constantFrom("yes", "go on"),
  fc.lorem({ maxCount: 400 }),
);
const steps = fc.array(
  fc.oneof(
    fc.record({ say: said }),
    fc.record({ reply: fc.lorem({ mode: "sentences", maxCount: 3 }) }),
    fc.record({ edit: fc.constantFrom("/project/a.ts", "/project/src/b.ts", "/project/src/c.ts") }),
  ),
  { maxLength: 40 },
) as fc.Arbitrary<Step[]>;

function sessionOf(all: readonly Step[]): readonly Entry[] {
  const session = new ConversationBuilder();
  for (const [at, step] of all.entries()) {
    if ("say" in step) session.user(step.say);
    else if ("reply" in step) session.assistant(step.reply);
    else session.tool(`t${at}`, "Edit", { file_path: step.edit, old_string: "a", new_string: "b" }, "ok");
  }
  return session.entries;
}

function inParts(all: readonly Entry[], cuts: readonly number[], within: NotesLimits): Notes {
  const sound = soundCuts(all);
  const points = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].filter((cut) => sound[cut] === true);
  let found = emptyNotes(template);
  let from = 0;
  for (const to of [...points.sort((a, b) => a - b), all.length]) {
    found = updateNotes(found, all.slice(from, to), { limits: within, countTokens });
    from = to;
  }
  return found;
}

/** True if the body contains the message or its first 100 characters, ignoring white space. */
function containsMessage(body: string, message: string): boolean {
  const plain = (part: string): string => part.replace(/\s+/g, "");
  return plain(body).includes(plain(withoutControls(message)).slice(0, 100));
}

describe("built-in notes of a session, written in any number of updates", () => {
  it("many small updates keep every user message that one update of the whole session would keep", () => {
    fc.assert(
      fc.property(
        steps,
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.integer({ min: 60, max: 2_000 }),
        (all, cuts, sectionTokens) => {
          const session = sessionOf(all);
          const within = { sectionTokens, totalTokens: 10 * sectionTokens };
          const whole = bodyOf(inParts(session, [], within), "Task Specification");
          const parts = bodyOf(inParts(session, cuts, within), "Task Specification");
          for (const exchange of digestSession(session).exchanges.filter(isRequest)) {
            const message = exchange.message?.text ?? "";
            if (containsMessage(whole, message)) expect(containsMessage(parts, message), message).toBe(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("many small updates list the same files, reads and edits as one large update, if all files fit", () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat(), { maxLength: 12 }), (all, cuts) => {
        const session = sessionOf(all);
        const within = { sectionTokens: 5_000, totalTokens: 50_000 };
        const headersOf = (found: Notes): string[] =>
          readBody(bodyOf(found, "Files and Functions"))
            .items.map((item) => item.split("\n")[0] ?? "")
            .sort();
        expect(headersOf(inParts(session, cuts, within))).toEqual(headersOf(inParts(session, [], within)));
      }),
      { numRuns: 100 },
    );
  });
});
