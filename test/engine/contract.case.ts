import { readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  ApiMessage,
  Compactor,
  CompactorEvent,
  CompactorModule,
  CompactorOptions,
  Message,
  Turn,
} from "@longhaul/core";
import { createCompactor, ModelError } from "@longhaul/core";
import { expect, it } from "vitest";
import { apiRuleViolations } from "../support/api-rules.ts";
import { toolResult, toolUse } from "../support/builders.ts";
import { openTranscript } from "../support/open-transcript.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const WINDOW_TOKENS = 32_000;
const REQUEST = { system: "You are careful.", max_tokens: 1_000 } as const;

/** Creates a prompt, a file read, its result, and an answer. Each has a unique word. */
const round = (nth: number, lines = 200): readonly ApiMessage[] => [
  { role: "user", content: `Question ${nth}: what is in berth-${nth}.ts?` },
  { role: "assistant", content: [toolUse(`call_${nth}`, "Read", { file_path: `/project/berth-${nth}.ts` })] },
  { role: "user", content: [toolResult(`call_${nth}`, `line ${nth} of the tide table\n`.repeat(lines))] },
  { role: "assistant", content: `Answer ${nth}: a tide table.` },
];

const rounds = (count: number, lines?: number): ApiMessage[] =>
  Array.from({ length: count }, (_, nth) => round(nth, lines)).flat();

const brokenRules = (request: Turn["request"] | undefined): readonly string[] =>
  apiRuleViolations(request?.messages ?? []);

const NEXT: ApiMessage = { role: "user", content: "Please continue." };

interface Host {
  readonly compactor: Compactor;
  readonly events: readonly CompactorEvent[];
}

/**
 * Tests all promises of the engine, for any set of optional modules. A module may add promises, but these
 * tests must pass without it.
 */
export function engineContract(modules: () => readonly CompactorModule[]): void {
  const host = (options: CompactorOptions = {}): Host => {
    const events: CompactorEvent[] = [];
    const compactor = createCompactor({
      model: "claude-haiku-4-5",
      request: REQUEST,
      clearing: { form: "off" },
      host: { onEvent: (event) => events.push(event) },
      ...options,
      window: { tokens: WINDOW_TOKENS, ...options.window },
      settings: { environment: {}, ...options.settings },
      modules: modules(),
    });
    return { compactor, events };
  };
  const has = ({ events }: Host, type: CompactorEvent["type"]): boolean =>
    events.some((event) => event.type === type);

  it("before() returns the same array while nothing in it was rewritten", async () => {
    const { compactor } = host();
    const messages = [...rounds(2), NEXT];
    expect((await compactor.before(messages)).messages).toBe(messages);
  });

  it("the engine repairs a request that breaks the rules of the API", async () => {
    const { compactor } = host();
    const [ask, call] = round(0) as readonly [ApiMessage, ApiMessage];
    const turn = await compactor.before([ask, call, NEXT]);
    expect(turn.findings.map(({ rule }) => rule)).toContain("tool-use-unanswered");
    expect(brokenRules(turn.request)).toEqual([]);
  });

  it("the engine clears old tool results when they are too large, and keeps them in the transcript", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const transcript = await openTranscript(path);
    const { compactor } = host({ clearing: { form: "size", targetTokens: 2_000 }, transcript });
    const turn = await compactor.before([...rounds(12), NEXT]);
    expect(turn.cleared).toBeGreaterThan(0);
    expect(JSON.stringify(turn.request)).not.toContain("line 0 of the tide table");
    await compactor.close();
    expect(readFileSync(path, "utf8")).toContain("line 0 of the tide table");
    expect(brokenRules(turn.request)).toEqual([]);
  });

  it("the engine compacts at the threshold, and the transcript still contains every message", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const main = host({ transcript: await openTranscript(path) });
    let messages: readonly Message[] = [...rounds(22), NEXT];
    const turn = await main.compactor.before(messages);
    expect(turn.compaction).toBeDefined();
    expect(turn.tokens).toBeLessThan(turn.thresholds.autoCompact);
    expect(brokenRules(turn.request)).toEqual([]);
    const written = readFileSync(path, "utf8");
    for (let nth = 0; nth < 22; nth++) expect(written).toContain(`Answer ${nth}: a tide table.`);
    messages = [...turn.messages, { role: "assistant", content: "Done." }, NEXT];
    expect((await main.compactor.before(messages)).messages).toBe(messages);
    await main.compactor.close();
  });

  it("a failed compaction changes nothing and says what to do", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const append = (): Promise<void> => Promise.reject(new Error("The disk is full."));
    const { compactor } = host({ transcript: { path, append } });
    const messages = [...rounds(22), NEXT];
    await expect(compactor.compact(messages)).rejects.toMatchObject({ code: "transcript-not-written" });
    expect((await compactor.before(messages)).messages).toBe(messages);
  });

  it("the engine recovers from an overflow with a smaller request", async () => {
    const { compactor } = host({ settings: { values: { autoCompactEnabled: true } } });
    const messages = [...rounds(8), NEXT];
    await compactor.before(messages);
    const tooLong = new ModelError({ kind: "too-long", tokens: 40_000, limit: WINDOW_TOKENS }, "too long");
    const turn = await compactor.recover(tooLong);
    expect(turn?.compaction).toBeDefined();
    expect(brokenRules(turn?.request)).toEqual([]);
  });

  it("an undo restores the messages of a compaction, and the next turn does not compact them again", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const transcript = await openTranscript(path);
    const { compactor } = host({ transcript });
    const compacted = await compactor.compact([...rounds(10), NEXT]);
    const undone = await compactor.undo(compacted.messages);
    expect(JSON.stringify(undone.messages)).toContain("Answer 0: a tide table.");
    expect((await compactor.before(undone.messages)).compaction).toBeUndefined();
    await compactor.close();
  });

  it("the engine ignores a reported usage that cannot be true", async () => {
    const main = host();
    const messages = [...rounds(6), NEXT];
    const { tokens } = await main.compactor.before(messages);
    main.compactor.after({ usage: { input_tokens: 1, output_tokens: 1 } });
    expect(has(main, "usage-distrusted")).toBe(true);
    const next = [...messages, { role: "assistant", content: "Done." } as const, NEXT];
    expect((await main.compactor.before(next)).tokens).toBeGreaterThanOrEqual(tokens);
  });

  it("the engine separates a subagent's conversation from its parent's", async () => {
    const { compactor } = host();
    const child = compactor.child({ agentId: "scout", request: REQUEST });
    const own = [...rounds(22), NEXT];
    expect((await child.before(own)).compaction).toBeDefined();
    const messages = [...rounds(2), NEXT];
    expect((await compactor.before(messages)).messages).toBe(messages);
    await child.close();
    expect(compactor.children).toEqual([]);
  });
}
