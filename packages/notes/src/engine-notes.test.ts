import type { CompactorEvent } from "@longhaul/core/engine";
import { createHooks } from "@longhaul/core/hooks";
import type { ApiMessage } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { scriptedModel } from "@longhaul/simulator";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HeldNotes } from "../../../test/engine/notes-file.case.ts";
import { toolResult, toolUse } from "../../../test/support/builders.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../test/support/full-compactor.ts";
import { contentBlocks } from "../../core/src/messages/message.ts";
import { isNotesRequest, NOTHING_TO_NOTE } from "./notes-prompt.ts";
import { NOTES_TEMPLATE } from "./template.ts";

afterEach(() => {
  vi.useRealTimers();
});

const NOTE = '<note section="Current State" mode="replace">The books are balanced up to May.</note>';

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `word${(at * 7 + seed * 13) % 997}`).join(" ");

type Answer = Parameters<typeof scriptedModel>[0] extends readonly (infer One)[] | infer _ ? One : never;

const asksForNotes = ({ messages }: ModelRequest): boolean =>
  contentBlocks(messages.at(-1)?.content ?? "").some(
    (block) => block.type === "text" && isNotesRequest(block.text),
  );

/**
 * Creates a model that answers notes requests with these answers, and all other requests with "A summary."
 */
const modelWith = (notes: () => Answer): ReturnType<typeof scriptedModel> =>
  scriptedModel((request) => (asksForNotes(request) ? notes() : "A summary."));

interface Scene {
  readonly file: HeldNotes;
  readonly events: CompactorEvent[];
  readonly compactor: Compactor;
  messages: readonly ApiMessage[];
  turn(): Promise<void>;
  reasons(): readonly string[];
}

/** Creates a session with notes in a window of 32,000 tokens. Each turn adds about 2,000 tokens. */
function scene(options: Partial<CompactorOptions> = {}, text?: string): Scene {
  const file = new HeldNotes(text);
  const events: CompactorEvent[] = [];
  const compactor = createCompactor({
    model: modelWith(() => NOTE),
    request: { max_tokens: 6_000 },
    clearing: { form: "off" },
    host: { onEvent: (event) => events.push(event) },
    notes: { file },
    ...options,
    window: { tokens: 32_000, ...options.window },
    settings: { environment: {}, ...options.settings },
  });
  let turns = 0;
  const made: Scene = {
    file,
    events,
    compactor,
    messages: [{ role: "user", content: "Balance the books." }],
    turn: async () => {
      const at = ++turns;
      const turn = await compactor.before(made.messages);
      const call = { role: "assistant", content: [toolUse(`t${at}`, "Ask", { at })] } as const;
      compactor.after({ content: call.content });
      made.messages = [
        ...turn.messages,
        call,
        { role: "user", content: [toolResult(`t${at}`, words(900, at))] },
      ];
    },
    reasons: () => events.flatMap((event) => (event.type === "notes-declined" ? [event.reason] : [])),
  };
  return made;
}

const compactions = ({ events }: Scene): readonly string[] =>
  events.flatMap((event) => (event.type === "compacted" ? [event.tier] : []));

async function workUntil(one: Scene, isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 60 && !isDone(); turn++) await one.turn();
  expect(isDone()).toBe(true);
}

describe("reasons to decline a compaction from notes", () => {
  const cases: readonly (readonly [
    string,
    (file: HeldNotes) => Partial<CompactorOptions>,
    string | undefined,
  ])[] = [
    ["disabled", (file) => ({ notes: { file, enabled: false } }), undefined],
    ["no-file", (file) => ({ notes: { file }, model: modelWith(() => "I would rather not.") }), undefined],
    ["only-template", (file) => ({ notes: { file }, model: modelWith(() => NOTHING_TO_NOTE) }), undefined],
    [
      "message-not-found",
      (file) => ({ notes: { file }, model: modelWith(() => "I would rather not.") }),
      `<!-- longhaul: noted up to 00000000-0000-4000-8000-000000000000 -->\n${NOTES_TEMPLATE}\n- something\n`,
    ],
  ];

  it.each(cases)(
    "declines a compaction from notes and reports the reason %s",
    async (reason, options, text) => {
      const file = new HeldNotes(text);
      const one = scene(options(file));
      await workUntil(one, () => compactions(one).length > 0);
      expect(one.reasons()).toEqual([reason]);
      expect(compactions(one)).toEqual(["full"]);
    },
  );

  it("reports unreadable and compacts without notes when reading the notes file fails", async () => {
    const file = new HeldNotes();
    file.read = async () => {
      throw new Error("The disk is gone.");
    };
    const one = scene({ notes: { file } });
    await workUntil(one, () => compactions(one).length > 0);
    expect(one.reasons()).toEqual(["unreadable"]);
    expect(one.events).toContainEqual(
      expect.objectContaining({ type: "notes-failed", reason: "unexpected" }),
    );
  });

  it.each<[string, () => Promise<string | undefined>]>([
    [
      "throws at once",
      () => {
        throw new Error("The disk is gone.");
      },
    ],
    ["returns no text", async () => null as unknown as undefined],
  ])("reports unreadable and compacts without notes when the host's read function %s", async (_, read) => {
    const file = new HeldNotes();
    file.read = read;
    const one = scene({ notes: { file } });
    await workUntil(one, () => compactions(one).length > 0);
    expect(one.reasons()).toEqual(["unreadable"]);
    expect(compactions(one)).toEqual(["full"]);
  });

  it("reports above-threshold when a compaction from notes would leave too many tokens", async () => {
    const one = scene({
      notes: { file: new HeldNotes(), limits: { sectionTokens: 30_000, totalTokens: 30_000 } },
    });
    const long = `<note section="Worklog" mode="replace">${words(12_000, 3)}</note>`;
    const other = scene({
      model: modelWith(() => long),
      notes: { file: new HeldNotes(), limits: { sectionTokens: 60_000, totalTokens: 60_000 } },
    });
    await workUntil(other, () => compactions(other).length > 0);
    expect(other.reasons()[0]).toBe("above-threshold");
    await workUntil(one, () => compactions(one).length > 0);
    expect(compactions(one)).toEqual(["memory"]);
  });

  it("reports hook-instructions when a hook returns instructions, because notes follow no instructions", async () => {
    const hooks = createHooks({ callbacks: { PreCompact: [() => "Mind the tides."] } });
    const one = scene({ hooks });
    await workUntil(one, () => compactions(one).length > 0);
    expect(one.reasons()).toEqual(["hook-instructions"]);
    expect(compactions(one)).toEqual(["full"]);
  });
});

describe("a manual compaction in a session with notes", () => {
  it("a manual compaction without options uses the notes", async () => {
    const one = scene();
    await workUntil(one, () => one.file.writes > 0);
    const { compaction } = await one.compactor.compact(one.messages);
    expect(compaction?.written.source).toBe("notes");
  });

  it.each([
    [{ instructions: "Mind the tides." }, "instructions"],
    [{ keepRecentTokens: 3_000 }, "keep-recent-tokens"],
    [{ upTo: 3, force: true }, "partial-compaction"],
    [{ upTo: 3, force: true, instructions: "Mind the tides." }, "partial-compaction"],
  ] as const)(
    "a manual compaction with the options %j uses no notes and reports the reason %s",
    async (wish, reason) => {
      const one = scene();
      await workUntil(one, () => one.file.writes > 0);
      const { compaction } = await one.compactor.compact(one.messages, wish);
      expect(compaction?.written.source).not.toBe("notes");
      expect(one.reasons()).toEqual([reason]);
    },
  );
});

describe("a notes update in progress", () => {
  const hanging = (): Partial<CompactorOptions> => ({
    model: modelWith(() => ({ content: "…", hangs: true })),
  });

  it("a compaction waits at most 15 seconds for a notes update, and only once for the same update", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const one = scene(hanging());
    const compactOnce = async (): Promise<number> => {
      const before = compactions(one).length;
      let waited = 0;
      while (compactions(one).length === before) {
        let isOver = false;
        const turn = one.turn().finally(() => {
          isOver = true;
        });
        for (let tick = 0; tick < 50 && !isOver; tick++) await Promise.resolve();
        while (!isOver) {
          await vi.advanceTimersByTimeAsync(1_000);
          waited += 1;
        }
        await turn;
      }
      return waited;
    };
    expect(await compactOnce()).toBeGreaterThanOrEqual(15);
    expect(await compactOnce()).toBeLessThan(3);
    expect(one.reasons()).toEqual(["no-file", "no-file"]);
  });

  it("gives up a notes update after 60 seconds and retries when the conversation has grown", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let answers = 0;
    const one = scene({ model: modelWith(() => (answers++ === 0 ? { content: "…", hangs: true } : NOTE)) });
    await workUntil(one, () => answers > 0);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(one.events.map(({ type }) => type)).not.toContain("notes-failed");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(one.events).toContainEqual(expect.objectContaining({ type: "notes-failed", reason: "timed-out" }));
    await workUntil(one, () => one.file.writes > 0);
  });

  it("when reading the notes file hangs, gives up the update after 60 seconds and compacts without notes", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const file = new HeldNotes();
    let reads = 0;
    const read = file.read.bind(file);
    file.read = () => (++reads <= 2 ? new Promise(() => undefined) : read());
    const one = scene({ notes: { file } });
    await workUntil(one, () => reads > 0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(one.events).toContainEqual(expect.objectContaining({ type: "notes-failed", reason: "timed-out" }));
    const compacting = one.compactor.compact(one.messages);
    await vi.advanceTimersByTimeAsync(10_000);
    one.messages = (await compacting).messages;
    expect(one.reasons()).toEqual(["unreadable"]);
    await workUntil(one, () => file.writes > 0);
  });

  it("aborts a notes update and writes nothing when the host switches to another conversation", async () => {
    let isAborted = false;
    const model = modelWith(() => ({ content: "…", hangs: true }));
    const stream: typeof model.stream = (request, options) => {
      options?.signal?.addEventListener("abort", () => {
        isAborted = true;
      });
      return model.stream(request, options);
    };
    const one = scene({ model: { ...model, stream } });
    await workUntil(one, () => model.requests.some(asksForNotes));
    await one.compactor.before([{ role: "user", content: "Something else." }]);
    expect(isAborted).toBe(true);
    expect(one.file.writes).toBe(0);
  });

  it("a notes update sends the messages as they were at its start, even if the host changes a message later", async () => {
    const asked: ModelRequest[] = [];
    const one = scene({
      model: scriptedModel((request) => {
        if (!asksForNotes(request)) return "A summary.";
        // Copies the request, because the host may change its objects later.
        asked.push(JSON.parse(JSON.stringify(request)) as ModelRequest);
        return NOTE;
      }),
    });
    const first = one.messages[0] as { content: string };
    const read = one.file.read.bind(one.file);
    one.file.read = async () => {
      first.content = "Burn the books.";
      return await read();
    };
    await workUntil(one, () => asked.length > 0);
    expect(first.content).toBe("Burn the books.");
    expect(asked[0]?.messages[0]?.content).toBe("Balance the books.");
  });

  it("the host can abort a compaction that waits for a notes update", async () => {
    const one = scene(hanging());
    const abort = new AbortController();
    await workUntil(one, () => isNearFull(one));
    const waiting = one.compactor.compact(one.messages, { signal: abort.signal });
    setTimeout(() => abort.abort(), 5);
    await expect(waiting).rejects.toMatchObject({ code: "model-aborted" });
  });
});

const isNearFull = ({ events }: Scene): boolean => {
  const check = events.findLast((event) => event.type === "window-checked");
  return check !== undefined && check.tokens > check.threshold * 0.6;
};

describe("notes that do not say which message was noted last", () => {
  const theirs = `${NOTES_TEMPLATE}\n- a line of a person's\n`;
  const said = (text: string): ApiMessage => ({ role: "user", content: text });
  const answered = (text: string): ApiMessage => ({ role: "assistant", content: text });
  const refusing = (): Partial<CompactorOptions> => ({ model: modelWith(() => "I would rather not.") });

  it("treats messages that exist at the start of the session as noted when the notes have no message id", async () => {
    const one = scene(refusing(), theirs);
    one.messages = Array.from({ length: 30 }, (_, at) => (at % 2 ? answered : said)(words(300, at)));
    const { compaction } = await one.compactor.compact([...one.messages, said("Go on.")]);
    expect(compaction?.written.source).toBe("notes");
  });

  it("treats messages added after the start of the session as not noted when the notes have no message id", async () => {
    const one = scene(refusing(), theirs);
    await workUntil(one, () => compactions(one).length > 0);
    expect(one.reasons()).toEqual(["does-not-pay"]);
    expect(compactions(one)).toEqual(["full"]);
  });
});
