import type { RequestFrame } from "@longhaul/core/compaction";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { ModelReply } from "@longhaul/core/models";
import { continuationMessage } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { findEditTool } from "../../../notes/src/model-edits.ts";
import { type AnswerRules, type TakenAnswer, takeAnswer } from "../../../notes/src/notes-answer.ts";
import type { Notes, NotesLimits } from "../../../notes/src/notes-format.ts";
import { emptyNotes, measureNotes, NOTES_LIMITS, notesAsShown } from "../../../notes/src/notes-format.ts";
import { notesPrompt } from "../../../notes/src/notes-prompt.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../../../notes/src/template.ts";
import type { Behavior, Turn } from "../exchange.ts";
import { coder } from "./coder.ts";
import { BAD_NOTES_KINDS, isNotesCall, noteTaker } from "./notes.ts";
import { summaries } from "./summaries.ts";
import { human, play, reply, seen, TOOLS } from "./toy-session.case.ts";

const TEMPLATE = parseTemplate(NOTES_TEMPLATE);
const PATH = "/notes/session.md";
const count = ESTIMATORS.o200k;
const conversation = play(coder({ turns: 12, chattiness: 1 }), [human("Make the shop faster")]).messages;

interface Door {
  readonly frame: RequestFrame;
  readonly rules: AnswerRules;
}

const doorTo = (frame: object): Door => ({
  frame: frame as RequestFrame,
  rules: { path: PATH, template: TEMPLATE, editTool: findEditTool(frame as RequestFrame) },
});
const BY_TOOL = doorTo({ tools: TOOLS });
const BY_TEXT = doorTo({ tools: [] });

interface Ask {
  readonly messages?: readonly ApiMessage[];
  readonly notes?: Notes;
  readonly limits?: NotesLimits;
  readonly door?: Door;
  readonly maxTokens?: number;
}

function promptFor({ notes = emptyNotes(TEMPLATE), limits = NOTES_LIMITS, door = BY_TOOL }: Ask): string {
  const { editTool } = door.rules;
  return notesPrompt({ notes, size: measureNotes(notes, count), limits, path: PATH, editTool });
}

function turnOf(behavior: Behavior, ask: Ask = {}): Turn | undefined {
  const { messages = conversation, door = BY_TOOL, maxTokens = 16_000 } = ask;
  const last = messages.at(-1);
  const prompt: ContentBlock = { type: "text", text: promptFor(ask) };
  const asked: readonly ApiMessage[] =
    last?.role === "user" && Array.isArray(last.content)
      ? [...messages.slice(0, -1), { ...last, content: [...last.content, prompt] }]
      : [...messages, { role: "user", content: [prompt] }];
  return behavior(seen(asked, { tools: (door.frame.tools ?? []) as never, maxTokens }));
}

/** Parses the answer like an extraction does. */
function take(
  turn: Turn | undefined,
  { notes = emptyNotes(TEMPLATE), door = BY_TOOL }: Ask = {},
): TakenAnswer {
  const content = (turn?.blocks ?? []).map((block, index): ContentBlock => {
    if (block.type === "tool_use") return { ...block, id: `toolu_${index}` };
    if (block.type === "text") return block;
    throw new Error("A note taker has neither thoughts nor raw blocks");
  });
  const said = { content, stopReason: "end_turn" } as unknown as ModelReply;
  return takeAnswer(said, notes, door.rules);
}

describe("the note taker", () => {
  it("answers requests for notes and no others, and the coder answers all but those", () => {
    for (const kind of ["good", "nothing", ...BAD_NOTES_KINDS] as const) {
      expect(noteTaker(kind)(seen(conversation))).toBeUndefined();
      expect(turnOf(noteTaker(kind))).toBeDefined();
    }
    expect(turnOf(coder({ turns: 5 }))).toBeUndefined();
    expect(turnOf(summaries())).toBeUndefined();
    expect(coder({ turns: 5 })(seen(conversation))).toBeDefined();
  });

  it("answers again when it is told what was refused, and the coder does not", () => {
    const asked: ApiMessage[] = [...conversation, { role: "user", content: promptFor({}) }];
    const again: ApiMessage[] = [
      ...asked,
      reply(turnOf(noteTaker("no-edits"))),
      human("Not everything was …"),
    ];
    expect(noteTaker()(seen(again))).toBeDefined();
    expect(coder({ turns: 5 })(seen(again))).toBeUndefined();
    expect(isNotesCall({ endpoint: "messages", body: { messages: again } })).toBe(true);
    expect(isNotesCall({ endpoint: "count_tokens", body: { messages: again } })).toBe(false);
    expect(isNotesCall({ endpoint: "messages", body: { messages: conversation } })).toBe(false);
    expect(isNotesCall({ endpoint: "messages", body: undefined })).toBe(false);
  });

  it("differs between attempts as the list or the function says; the last of a list stays", () => {
    const listed = noteTaker(["no-edits", "nothing", "good"]);
    const edits = [1, 2, 3, 4].map(() => take(turnOf(listed)).edits > 0);
    expect(edits).toEqual([false, false, true, true]);
    const byNumber = noteTaker((attempt) => (attempt === 1 ? "good" : "nothing"));
    expect([1, 2, 3].map(() => take(turnOf(byNumber)).edits > 0)).toEqual([false, true, false]);
  });
});

describe.each([
  ["by the tool", BY_TOOL],
  ["by text", BY_TEXT],
])("a good note taker, %s", (_, door) => {
  it("notes what was asked, which files were touched, what failed, and where the work stands", () => {
    const { notes, refused } = take(turnOf(noteTaker(), { door }), { door });
    expect(refused).toBe(0);
    const shown = notesAsShown(notes);
    expect(shown).toMatch(/# Session Title\n_.*_\n\n.*Make the shop faster/);
    expect(shown).toMatch(
      /# Current State\n_.*_\n\nHow far the work is: \(done at step 12: Make the shop faster\)/,
    );
    expect(shown).toMatch(/# Files and Functions\n_.*_\n\n- `.*`: (read|changed)\n/);
    expect(shown).toMatch(/# Worklog\n_.*_\n\n- \(done at step 12: /);
  });

  it("invents nothing: every path in its notes is in the conversation", () => {
    const shown = notesAsShown(take(turnOf(noteTaker(), { door }), { door }).notes);
    const told = JSON.stringify(conversation);
    const paths = [...shown.matchAll(/`([^`\n]+\.\w+)`: (?:read|changed)/g)].map(([, path = ""]) => path);
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !told.includes(path))).toEqual([]);
  });

  it("says that there is nothing to note when everything is noted", () => {
    const { notes } = take(turnOf(noteTaker(), { door }), { door });
    expect(take(turnOf(noteTaker(), { door, notes }), { door, notes })).toMatchObject({
      edits: 0,
      saysNothingToNote: true,
    });
  });

  it("writes into the first section of a template that has other sections", () => {
    const template = parseTemplate("# Diary\n_What happened._\n\n# Rest\n_The rest._\n");
    const other = { ...door, rules: { ...door.rules, template } };
    const notes = emptyNotes(template);
    const taken = take(turnOf(noteTaker(), { door: other, notes }), { door: other, notes });
    expect(taken).toMatchObject({ refused: 0, edits: 1 });
    expect(taken.notes.sections[0]?.body).toContain("step 12");
  });

  it("holds out for hours: nothing is refused, and what is over its limit is condensed", () => {
    const limits = { sectionTokens: 300, totalTokens: 1_200 };
    const taker = noteTaker();
    let notes = emptyNotes(TEMPLATE);
    let answers = 0;
    let most = 0;
    play(coder({ turns: 400, chattiness: 0.2 }), [human("Make the shop faster")], {
      compact: (messages, step) => {
        if (step % 4 !== 0) return [...messages];
        const taken = take(turnOf(taker, { messages, notes, limits, door, maxTokens: 6_000 }), {
          notes,
          door,
        });
        expect(taken.refused).toBe(0);
        answers++;
        notes = taken.notes;
        most = Math.max(most, ...measureNotes(notes, count).sections.map(({ tokens }) => tokens));
        return messages.slice(step % 40 === 0 ? -10 : 0);
      },
    });
    expect(answers).toBe(100);
    // One answer adds at most a dozen lines before the next one has to condense.
    expect(most).toBeGreaterThan(limits.sectionTokens);
    expect(most).toBeLessThan(5 * limits.sectionTokens);
    expect(notesAsShown(notes)).toContain("(step 400: Make the shop faster)");
  });
});

it("the coder finds its place again in good notes", () => {
  const taker = noteTaker();
  let notes = emptyNotes(TEMPLATE);
  const compact = (messages: readonly ApiMessage[], step: number): ApiMessage[] => {
    if (step % 20 !== 0) return [...messages];
    ({ notes } = take(turnOf(taker, { messages, notes }), { notes }));
    const summary = notesAsShown(notes);
    return [
      {
        role: "user",
        content: continuationMessage({ summary, keptRecent: false, isNotes: true, trigger: "auto" }),
      },
    ];
  };
  const { turns, messages } = play(coder({ turns: 100 }), [human("Make the shop faster")], { compact });
  expect(turns).toHaveLength(101);
  expect(messages.length).toBeLessThan(50);
  expect(notes.sections[2]).toMatchObject({
    heading: "# Task Specification",
    body: "- Make the shop faster",
  });
});

describe("a bad note taker", () => {
  it.each(["damages-headings", "other-file", "uses-other-tools", "unknown-section"] as const)(
    "has its answer refused, by either door: %s",
    (kind) => {
      for (const door of [BY_TOOL, BY_TEXT])
        expect(take(turnOf(noteTaker(kind), { door }), { door })).toMatchObject({ edits: 0, refused: 1 });
    },
  );

  it("that is wordy goes over the limits, and does not condense when told", () => {
    let notes = emptyNotes(TEMPLATE);
    for (let round = 0; round < 12; round++) {
      const taken = take(turnOf(noteTaker("wordy"), { notes }), { notes });
      expect(taken).toMatchObject({ refused: 0, edits: 1 });
      notes = taken.notes;
    }
    const { tokens, sections } = measureNotes(notes, count);
    expect(tokens).toBeGreaterThan(NOTES_LIMITS.totalTokens);
    expect(Math.max(...sections.map((section) => section.tokens))).toBeGreaterThan(
      NOTES_LIMITS.sectionTokens,
    );
  });
});
