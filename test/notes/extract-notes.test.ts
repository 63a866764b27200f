import type { ToolDefinition } from "@longhaul/core";
import type { RequestFrame } from "@longhaul/core/compaction";
import type { Behavior, Fault } from "@longhaul/simulator";
import { isNotesCall, type NotesKind, noteTaker, type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inputTokens } from "../../packages/core/src/messages/responses.ts";
import {
  type ExtractionOutcome,
  type ExtractionRequest,
  extractNotes,
} from "../../packages/notes/src/extract-notes.ts";
import { notesAsShown } from "../../packages/notes/src/notes-format.ts";
import { connect, FRAME, Host, plainWorker, thinkingWorker } from "../summary/host.ts";
import { request } from "./extraction.case.ts";

const TURNS = 8;
const text = { type: "string" };
const pair = { type: "object", properties: { old_string: text, new_string: text } };

const withTool = (name: string, properties: Readonly<Record<string, unknown>>): RequestFrame => ({
  ...FRAME,
  tools: [...(FRAME.tools ?? []), { name, input_schema: { type: "object", properties } }],
});
const EDIT = withTool("Edit", { file_path: text, old_string: text, new_string: text });
const MULTI = withTool("MultiEdit", { file_path: text, edits: { type: "array", items: pair } });
const PROVIDERS: RequestFrame = {
  ...FRAME,
  tools: [
    ...(FRAME.tools ?? []),
    { type: "text_editor_20250728", name: "str_replace_based_edit_tool" } as unknown as ToolDefinition,
  ],
};

/** All ways to edit notes that the tools of a conversation allow. */
const DOORS: readonly (readonly [string, RequestFrame])[] = [
  ["text", FRAME],
  ["the host's tool", EDIT],
  ["the host's tool for several edits", MULTI],
  ["the provider's own editor", PROVIDERS],
];

let simulator: Simulator;
const start = async (
  kinds: NotesKind | readonly NotesKind[],
  worker: Behavior = plainWorker,
): Promise<void> => {
  simulator = await startSimulator({ behaviors: [noteTaker(kinds), worker] });
};
afterEach(() => simulator.close());

async function worked(frame: RequestFrame, model = "claude-opus-4-6"): Promise<Host> {
  const host = new Host(connect(simulator, model), frame);
  host.conversation.user("Bring the books in order. They are in /books/ledger.txt.");
  await host.turns(TURNS);
  return host;
}

const asking = (host: Host, more: Partial<ExtractionRequest> = {}): ExtractionRequest =>
  request({ entries: [...host.conversation.entries], fork: host.fork(), ...more });

const shown = ({ notes }: ExtractionOutcome): string => notesAsShown(notes);

describe.each(DOORS)("a fork that takes notes and edits them by %s", (_, frame) => {
  it("a notes fork reads at least 95% of the prefix from the cache, writes nothing to it, and edits the notes", async () => {
    await start("good");
    const host = await worked(frame);
    const prefix = simulator.requests.last?.inputTokens ?? Number.NaN;
    const outcome = await extractNotes(asking(host));
    expect(outcome).toMatchObject({ by: "fork", refused: 0, calls: 1, isComplete: true });
    expect(outcome.edits).toBeGreaterThanOrEqual(3);
    expect(shown(outcome)).toContain("Bring the books in order. They are in /books/ledger.txt.");
    expect(shown(outcome)).toMatch(/# Files and Functions\n_.*_\n\n- `page-1\.txt`: read\n/);
    expect(prefix).toBeGreaterThan(5_000);
    expect(outcome.usage.cache_read_input_tokens).toBeGreaterThanOrEqual(prefix * 0.95);
    expect(outcome.usage.cache_creation_input_tokens).toBe(0);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("a notes fork corrects refused edits with calls that read from the cache, and adds up the cost of all calls", async () => {
    await start("repairs");
    const host = await worked(frame);
    const prefix = simulator.requests.last?.inputTokens ?? Number.NaN;
    const outcome = await extractNotes(asking(host));
    expect(outcome).toMatchObject({ by: "fork", refused: 1, calls: 2, isComplete: true });
    expect(outcome.edits).toBeGreaterThanOrEqual(3);
    const calls = simulator.requests.messages.slice(-2);
    expect(calls.map(({ usage }) => usage?.cache_read_input_tokens)).toEqual([prefix, prefix]);
    expect(inputTokens(outcome.usage)).toBe(calls.reduce((sum, call) => sum + (call.inputTokens ?? 0), 0));
    expect(outcome.usage.cache_creation_input_tokens).toBe(0);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("a model may edit the notes one edit at a time until the model says that the notes are complete", async () => {
    await start("one-by-one");
    const host = await worked(frame);
    const outcome = await extractNotes(asking(host));
    expect(outcome).toMatchObject({ by: "fork", refused: 0, isComplete: true });
    // Edits by text need one answer. Edits by tool need one answer each, because the model waits for the
    // result of each edit.
    const isByText = frame === FRAME;
    expect(outcome.calls).toBe(isByText ? 1 : outcome.edits + 1);
    if (!isByText) expect(outcome.edits).toBeGreaterThanOrEqual(3);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it.each(["damages-headings", "other-file", "uses-other-tools", "unknown-section"] as const)(
    "extractNotes fails and changes nothing when every answer of the model is of the type %s",
    async (kind) => {
      await start(kind);
      const host = await worked(frame);
      const before = simulator.requests.length;
      await expect(extractNotes(asking(host))).rejects.toMatchObject({ code: "notes-reply-unusable" });
      expect(simulator.requests.length - before).toBe(3);
      expect(simulator.requests.invalid).toEqual([]);
    },
  );

  it.each(["damages-headings", "other-file", "uses-other-tools", "unknown-section"] as const)(
    "extractNotes accepts the second answer of the model when the first one is of the type %s",
    async (kind) => {
      await start([kind, "good"]);
      const outcome = await extractNotes(asking(await worked(frame)));
      expect(outcome).toMatchObject({ refused: 1, calls: 2, isComplete: true });
      expect(simulator.requests.invalid).toEqual([]);
    },
  );
});

describe("answers of the note taker without edits", () => {
  it.each([
    ["no-edits", { code: "notes-reply-unusable" }],
    ["nothing", undefined],
  ] as const)(
    "extractNotes rejects an answer without edits unless the model says that nothing is worth noting (%s)",
    async (kind, failure) => {
      await start(kind);
      const extraction = extractNotes(asking(await worked(EDIT)));
      if (failure) await expect(extraction).rejects.toMatchObject(failure);
      else expect(await extraction).toMatchObject({ edits: 0, calls: 1, isComplete: true });
      expect(simulator.requests.invalid).toEqual([]);
    },
  );
});

describe("notes forks of a thinking model", () => {
  it.each([
    ["claude-opus-5-5", { type: "adaptive" }, "fork"],
    ["claude-opus-4-6", { type: "adaptive" }, "fork"],
    // A fork is impossible. The provider drops thinking of earlier turns, so the prefix would differ.
    ["claude-haiku-4-5", { type: "enabled", budget_tokens: 2_000 }, "direct"],
  ] as const)(
    "extractNotes sends a valid request for notes to the thinking model %s",
    async (name, thinking, by) => {
      await start("repairs", thinkingWorker);
      const host = await worked({ ...EDIT, thinking }, name);
      const outcome = await extractNotes(asking(host));
      expect(outcome).toMatchObject({ by, calls: 2, isComplete: true });
      expect(simulator.requests.invalid).toEqual([]);
      if (by === "direct")
        expect(JSON.stringify(simulator.requests.last?.body)).not.toContain('"thinking":"');
    },
  );
});

describe("direct calls for notes", () => {
  beforeEach(() => start(["damages-headings", "good"]));

  it("a direct call for notes edits the notes by text and corrects refused edits", async () => {
    const host = await worked(EDIT);
    const { entries } = host.conversation;
    const asked = asking(host, { fork: undefined, model: host.model, fresh: entries.slice(-6) });
    const outcome = await extractNotes(asked);
    expect(outcome).toMatchObject({ by: "direct", refused: 1, calls: 2, isComplete: true });
    expect(shown(outcome)).toContain("`page-15.txt`: read");
    expect(shown(outcome)).not.toContain("page-1.txt");
    expect(simulator.requests.last?.usage).toMatchObject({ cache_creation_input_tokens: 0 });
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("extractNotes makes a direct call when the fork is too long for the window", async () => {
    const host = await worked(EDIT);
    simulator.fail({
      kind: "status",
      status: 400,
      type: "invalid_request_error",
      message: "prompt is too long: 210000 tokens > 200000 maximum",
    });
    expect(await extractNotes(asking(host))).toMatchObject({ by: "direct", calls: 3, isComplete: true });
  });
});

describe("aborts of the note taker", () => {
  const FAULTS: readonly (readonly [string, Fault])[] = [
    ["is silent", { kind: "silence" }],
    ["has begun to answer", { kind: "slow", betweenEventsMs: 100_000 }],
    ["is late", { kind: "slow", firstByteMs: 100_000 }],
  ];
  it.each(FAULTS.flatMap(([name, fault]) => [0, 1].map((before) => [name, before, fault] as const)))(
    "an abort while the note taker %s (after %i answers) ends the extraction at once",
    async (_, before, fault) => {
      await start("damages-headings");
      const host = await worked(EDIT);
      const controller = new AbortController();
      let seen = 0;
      simulator.fail(fault, {
        when: (call) => {
          const isTarget = isNotesCall(call) && seen++ === before;
          if (isTarget) setTimeout(() => controller.abort(), 20);
          return isTarget;
        },
      });
      const extraction = extractNotes(asking(host, { signal: controller.signal }));
      await expect(extraction).rejects.toMatchObject({ code: "model-aborted" });
      expect(seen).toBe(before + 1);
      await host.turn();
      expect(simulator.requests.invalid).toEqual([]);
    },
  );
});

describe("a note taker that answers slowly", () => {
  it("a slow note taker does not delay the conversation", async () => {
    await start("good");
    const host = await worked(EDIT);
    const controller = new AbortController();
    simulator.fail(
      { kind: "slow", firstByteMs: 100_000 },
      { times: Number.POSITIVE_INFINITY, when: isNotesCall },
    );
    const extraction = extractNotes(asking(host, { signal: controller.signal }));
    const ended = expect(extraction).rejects.toMatchObject({ code: "model-aborted" });
    await host.turns(3);
    controller.abort();
    await ended;
    expect(host.conversation.entries).toHaveLength(1 + 2 * (TURNS + 3));
  });
});
