import type { RequestFrame } from "@longhaul/core/compaction";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { ModelReply } from "@longhaul/core/models";
import { continuationMessage } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { findEditTool } from "../../../notes/src/model-edits.ts";
import { type AnswerRules, type ReadAnswer, readAnswer } from "../../../notes/src/notes-answer.ts";
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

interface EditWay {
  readonly frame: RequestFrame;
  readonly rules: AnswerRules;
}

const editWayFor = (frame: object): EditWay => ({
  frame: frame as RequestFrame,
  rules: { path: PATH, template: TEMPLATE, editTool: findEditTool(frame as RequestFrame) },
});
const BY_TOOL = editWayFor({ tools: TOOLS });
const BY_TEXT = editWayFor({ tools: [] });

interface Ask {
  readonly messages?: readonly ApiMessage[];
  readonly notes?: Notes;
  readonly limits?: NotesLimits;
  readonly editWay?: EditWay;
  readonly maxTokens?: number;
}

function promptFor({ notes = emptyNotes(TEMPLATE), limits = NOTES_LIMITS, editWay = BY_TOOL }: Ask): string {
  const { editTool } = editWay.rules;
  return notesPrompt({ notes, size: measureNotes(notes, count), limits, path: PATH, editTool });
}

function turnOf(behavior: Behavior, ask: Ask = {}): Turn | undefined {
  const { messages = conversation, editWay = BY_TOOL, maxTokens = 16_000 } = ask;
  const last = messages.at(-1);
  const prompt: ContentBlock = { type: "text", text: promptFor(ask) };
  const asked: readonly ApiMessage[] =
    last?.role === "user" && Array.isArray(last.content)
      ? [...messages.slice(0, -1), { ...last, content: [...last.content, prompt] }]
      : [...messages, { role: "user", content: [prompt] }];
  return behavior(seen(asked, { tools: (editWay.frame.tools ?? []) as never, maxTokens }));
}

/** Applies the edits of the answer, like `extractNotes` does. */
function take(
  turn: Turn | undefined,
  { notes = emptyNotes(TEMPLATE), editWay = BY_TOOL }: Ask = {},
): ReadAnswer {
  const content = (turn?.blocks ?? []).map((block, index): ContentBlock => {
    if (block.type === "tool_use") return { ...block, id: `toolu_${index}` };
    if (block.type === "text") return block;
    throw new Error("A note taker has neither thoughts nor raw blocks");
  });
  const said = { content, stopReason: "end_turn" } as unknown as ModelReply;
  return readAnswer(said, notes, editWay.rules);
}

describe("noteTaker, the simulated model for notes requests", () => {
  it("noteTaker answers only notes requests, and the coder answers all other requests", () => {
    for (const kind of ["good", "nothing", ...BAD_NOTES_KINDS] as const) {
      expect(noteTaker(kind)(seen(conversation))).toBeUndefined();
      expect(turnOf(noteTaker(kind))).toBeDefined();
    }
    expect(turnOf(coder({ turns: 5 }))).toBeUndefined();
    expect(turnOf(summaries())).toBeUndefined();
    expect(coder({ turns: 5 })(seen(conversation))).toBeDefined();
  });

  it("noteTaker, not the coder, answers the feedback on refused edits", () => {
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

  it("noteTaker takes the kind of each answer from a list, whose last item repeats, or from a function", () => {
    const listed = noteTaker(["no-edits", "nothing", "good"]);
    const edits = [1, 2, 3, 4].map(() => take(turnOf(listed)).edits > 0);
    expect(edits).toEqual([false, false, true, true]);
    const byNumber = noteTaker((attempt) => (attempt === 1 ? "good" : "nothing"));
    expect([1, 2, 3].map(() => take(turnOf(byNumber)).edits > 0)).toEqual([false, true, false]);
  });
});

describe.each([
  ["with the edit tool", BY_TOOL],
  ["with note blocks", BY_TEXT],
])("a good note taker, %s", (_, editWay) => {
  it("a good note taker notes the request, the touched files, the progress and the worklog", () => {
    const { notes, refused } = take(turnOf(noteTaker(), { editWay }), { editWay });
    expect(refused).toBe(0);
    const shown = notesAsShown(notes);
    expect(shown).toMatch(/# Session Title\n_.*_\n\n.*Make the shop faster/);
    expect(shown).toMatch(
      /# Current State\n_.*_\n\nProgress of the work: \(done at step 12: Make the shop faster\)/,
    );
    expect(shown).toMatch(/# Files and Functions\n_.*_\n\n- `.*`: (read|changed)\n/);
    expect(shown).toMatch(/# Worklog\n_.*_\n\n- \(done at step 12: /);
  });

  it("every path in the notes of a good note taker is in the conversation", () => {
    const shown = notesAsShown(take(turnOf(noteTaker(), { editWay }), { editWay }).notes);
    const spoken = JSON.stringify(conversation);
    const paths = [...shown.matchAll(/`([^`\n]+\.\w+)`: (?:read|changed)/g)].map(([, path = ""]) => path);
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !spoken.includes(path))).toEqual([]);
  });

  it("a good note taker answers NOTHING TO NOTE when everything is noted", () => {
    const { notes } = take(turnOf(noteTaker(), { editWay }), { editWay });
    expect(take(turnOf(noteTaker(), { editWay, notes }), { editWay, notes })).toMatchObject({
      edits: 0,
      saysNothingToNote: true,
    });
  });

  it("a good note taker writes into the first section of a template with unknown sections", () => {
    const template = parseTemplate("# Diary\n_What happened._\n\n# Rest\n_The rest._\n");
    const other = { ...editWay, rules: { ...editWay.rules, template } };
    const notes = emptyNotes(template);
    const taken = take(turnOf(noteTaker(), { editWay: other, notes }), { editWay: other, notes });
    expect(taken).toMatchObject({ refused: 0, edits: 1 });
    expect(taken.notes.sections[0]?.body).toContain("step 12");
  });

  it("a good note taker makes no refused edit in 400 turns, and condenses sections over their limit", () => {
    const limits = { sectionTokens: 300, totalTokens: 1_200 };
    const taker = noteTaker();
    let notes = emptyNotes(TEMPLATE);
    let answers = 0;
    let most = 0;
    play(coder({ turns: 400, chattiness: 0.2 }), [human("Make the shop faster")], {
      compact: (messages, step) => {
        if (step % 4 !== 0) return [...messages];
        const taken = take(turnOf(taker, { messages, notes, limits, editWay, maxTokens: 6_000 }), {
          notes,
          editWay,
        });
        expect(taken.refused).toBe(0);
        answers++;
        notes = taken.notes;
        most = Math.max(most, ...measureNotes(notes, count).sections.map(({ tokens }) => tokens));
        return messages.slice(step % 40 === 0 ? -10 : 0);
      },
    });
    expect(answers).toBe(100);
    // Sections exceed their limit only slightly: one answer adds at most a dozen lines, and the next answer
    // condenses the section.
    expect(most).toBeGreaterThan(limits.sectionTokens);
    expect(most).toBeLessThan(5 * limits.sectionTokens);
    expect(notesAsShown(notes)).toContain("(step 400: Make the shop faster)");
  });
});

it("the coder resumes at the right step from good notes", () => {
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

describe("a note taker that is bad on purpose", () => {
  it.each(["damages-headings", "other-file", "uses-other-tools", "unknown-section"] as const)(
    "the edits of a bad note taker are refused, as tool calls and as text: %s",
    (kind) => {
      for (const editWay of [BY_TOOL, BY_TEXT])
        expect(take(turnOf(noteTaker(kind), { editWay }), { editWay })).toMatchObject({
          edits: 0,
          refused: 1,
        });
    },
  );

  it("the wordy note taker exceeds the limits and ignores requests to condense", () => {
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
