import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TranscriptWriter } from "@longhaul/sessions";
import { resumeSession } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AgentLoop, FRAME } from "../../../../../test/engine/agent-loop.case.ts";
import { collectGarbage, Traces } from "../../../../../test/engine/garbage.case.ts";
import { type Form, shown } from "../../../../../test/engine/host-conversation.case.ts";
import {
  hasCommitted,
  openScene,
  type Scene,
  WINDOW_TOKENS,
  workUntil,
} from "../../../../../test/engine/scene.case.ts";
import { type Compactor, createCompactor } from "../../../../../test/support/full-compactor.ts";
import { openTranscript } from "../../../../../test/support/open-transcript.ts";
import { systemError } from "../../../../../test/transcript/faulty-file.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import type { Turn } from "../../engine/options.ts";
import type { Entry } from "../../messages/entry.ts";
import { isCollapsedSpan, withClearedResults } from "../../messages/stand-ins.ts";
import { flatten } from "../../request/flatten/flatten.ts";

const folder = temporaryFolder();
let scene: Scene;
let path: string;
let files = 0;
beforeEach(async () => {
  scene = await openScene();
  path = join(folder, `collapse-${++files}.jsonl`);
});
afterEach(() => scene.simulator.close());

const open = (): Promise<TranscriptWriter> =>
  openTranscript(path, { lock: async () => async () => undefined });

/** Prepares a turn with a caller for which the engine never collapses or compacts. */
const unchangedTurn = ({ compactor, conversation }: AgentLoop): Promise<Turn> =>
  compactor.before(conversation.messages, { caller: "compact" });

async function resumed(): Promise<readonly Entry[]> {
  const { conversation, clearedToolUseIds } = await resumeSession(path);
  return withClearedResults(conversation, clearedToolUseIds);
}

const CASES: readonly (readonly [Form, string, "off" | "auto"])[] = [
  ["messages", "claude-haiku-4-5", "auto"],
  ["entries", "claude-haiku-4-5", "off"],
  ["messages", "claude-opus-5-5", "off"],
  ["entries", "claude-opus-5-5", "auto"],
];

describe.each(CASES)(
  "a transcript with collapsed spans, for a host that passes %s, the model %s and clearing %s",
  (form, modelName, clearing) => {
    it("a transcript with collapsed and expanded spans and a compaction is read back correctly", async () => {
      const transcript = await open();
      const compactor = { transcript, collapse: {}, clearing: { form: clearing } } as const;
      const loop = scene.loop({ form, modelName, compactor });
      const check = async (): Promise<void> => {
        const { request, messages } = await unchangedTurn(loop);
        loop.conversation.resumeFrom(messages);
        // Read the file repeatedly, because the engine may still write in the background.
        const read = async (): Promise<readonly string[]> => shown(flatten(await resumed()));
        await expect.poll(read, { timeout: 5_000, interval: 5 }).toEqual(shown(request.messages));
      };
      for (const times of [1, 3]) {
        expect(await workUntil(loop, hasCommitted(loop, times))).toBe(true);
        await check();
        await loop.run(times);
        await check();
      }
      loop.conversation.resumeFrom((await loop.compactor.expand(loop.conversation.messages)).messages);
      await check();
      await loop.run(1);
      await check();
      loop.conversation.resumeFrom((await loop.compactor.compact(loop.conversation.messages)).messages);
      await loop.run(2);
      await check();
      expect(scene.simulator.requests.invalid).toEqual([]);
      await transcript.close();
    });
  },
);

/** Starts a new process that continues from the file. */
async function reopen(): Promise<{ readonly compactor: Compactor; readonly turn: Turn<Entry> }> {
  const transcript = await open();
  const { conversation } = await resumeSession(path);
  const has = new Set(conversation.map(({ uuid }) => uuid));
  const compactor = createCompactor({
    model: "claude-haiku-4-5",
    window: { tokens: WINDOW_TOKENS },
    settings: { environment: {} },
    request: FRAME,
    collapse: {},
    clearing: { form: "off" },
    transcript: {
      path,
      append: (entries) => transcript.append(entries),
      read: (uuids) => transcript.read(uuids),
      has: (uuid) => has.has(uuid),
    },
  });
  return { compactor, turn: await compactor.before(conversation) };
}

describe("a process that ends during a collapse", () => {
  it("a process that ends right after it wrote collapsed spans to the transcript loses nothing", async () => {
    const written = await open();
    let die = (): void => undefined;
    const death = new Promise<void>((resolve) => {
      die = resolve;
    });
    const transcript = {
      path,
      append: async (entries: readonly Entry[]) => {
        await written.append(entries);
        if (!entries.some(isCollapsedSpan)) return;
        die();
        await new Promise<never>(() => undefined);
      },
    };
    const loop = scene.loop({ compactor: { transcript, collapse: {} } });
    await Promise.race([death, workUntil(loop, () => false)]);
    expect(loop.eventsOf("spans-committed")).toEqual([]);

    const { turn, compactor } = await reopen();
    expect(turn.messages.filter(isCollapsedSpan).length).toBeGreaterThan(0);
    const text = JSON.stringify(turn.request.messages);
    expect(loop.said.filter((words) => !text.includes(words))).toEqual([]);
    // The last usage was reported before the commit, so the engine must subtract the tokens saved since then.
    expect(turn.tokens).toBeLessThan(turn.thresholds.effective * 0.75);
    const whole = await compactor.expand(turn.messages);
    const never = createCompactor({ settings: { environment: {} }, window: { tokens: 1_000_000 } });
    const asItWas = await never.before(loop.conversation.messages);
    expect(shown(whole.request.messages)).toEqual(shown(asItWas.request.messages));
  });

  it("a process that ends while it writes collapsed spans leaves the conversation unchanged", async () => {
    const transcript = await open();
    const loop = scene.loop({ compactor: { transcript, collapse: {} } });
    expect(await workUntil(loop, hasCommitted(loop))).toBe(true);
    const lines = readFileSync(path, "utf8").split("\n");
    const first = lines.findIndex((line) => line.includes('"collapsed":{'));
    const mark = lines.findIndex((line) => line.includes('"collapse_committed"'));
    const readWith = async (whole: number): Promise<readonly Entry[]> => {
      const torn = join(folder, `torn-${files}-${whole}.jsonl`);
      writeFileSync(torn, `${lines.slice(0, whole).join("\n")}\n${lines[whole]?.slice(0, 200)}`);
      return (await resumeSession(torn)).conversation;
    };
    const before = await readWith(first);
    expect(mark - first).toBeGreaterThan(1);
    for (let whole = first; whole <= mark; whole++) expect(await readWith(whole)).toEqual(before);
    expect((await readWith(mark + 1)).filter(isCollapsedSpan)).toHaveLength(mark - first);
  });

  it("a resumed process keeps the collapsed spans and can expand them", async () => {
    const transcript = await open();
    const loop = scene.loop({ form: "entries", compactor: { transcript, collapse: {} } });
    expect(await workUntil(loop, hasCommitted(loop, 3))).toBe(true);
    await loop.compactor.close();
    await transcript.close();
    const { turn, compactor } = await reopen();
    const spans = turn.messages.filter(isCollapsedSpan);
    expect(spans.length).toBeGreaterThan(1);
    const [first] = spans;
    const one = await compactor.expand(turn.messages, [first?.collapsed.spanId ?? ""]);
    expect(one.messages.filter(isCollapsedSpan)).toHaveLength(spans.length - 1);
    expect(one.tokens).toBeGreaterThan(turn.tokens);
    await expect(compactor.expand(one.messages, ["no such span"])).rejects.toMatchObject({
      code: "span-not-found",
    });
  });
});

describe("span collapse while the transcript cannot be written", () => {
  it("collapses no messages while the transcript cannot be written, and collapses messages afterwards", async () => {
    const written = await open();
    let isBroken = true;
    const transcript = {
      path,
      append: async (entries: readonly Entry[]) => {
        if (isBroken && entries.some(isCollapsedSpan)) throw systemError("ENOSPC");
        await written.append(entries);
      },
    };
    const loop = scene.loop({ compactor: { transcript, collapse: {} } });
    expect(await workUntil(loop, () => loop.problems.length > 0)).toBe(true);
    expect(loop.problems[0]).toBe("transcript-not-written");
    expect(loop.eventsOf("spans-committed")).toEqual([]);
    const text = JSON.stringify(loop.conversation.messages);
    expect(loop.said.filter((words) => !text.includes(words))).toEqual([]);
    isBroken = false;
    expect(await workUntil(loop, hasCommitted(loop))).toBe(true);
    expect(loop.recoveries).toBe(0);
  });
});

describe.each<Form>(["messages", "entries"])(
  "memory use of collapsed spans, for a host that passes %s",
  (form) => {
    it("does not keep collapsed messages in memory when the transcript contains them", async () => {
      const traces = new Traces();
      const transcript = await open();
      const loop = scene.loop({
        form,
        compactor: { transcript, collapse: {} },
        onTurn: ({ messages }) => traces.add(messages),
      });
      expect(await workUntil(loop, hasCommitted(loop, 3))).toBe(true);
      await loop.run(2);
      loop.lastTurn = undefined;
      collectGarbage();
      expect(traces.count).toBeGreaterThan(40);
      expect(traces.retainedOutside(loop.conversation.messages)).toBeLessThan(5);
    });

    it("keeps collapsed messages in memory if there is no transcript, so that spans can be expanded", async () => {
      const loop = scene.loop({ form, compactor: { collapse: {} } });
      expect(await workUntil(loop, hasCommitted(loop))).toBe(true);
      const before = await unchangedTurn(loop);
      const whole = await loop.compactor.expand(loop.conversation.messages);
      expect(whole.messages.length).toBeGreaterThan(before.messages.length);
      expect(loop.eventsOf("spans-expanded")).toMatchObject([
        { spans: loop.eventsOf("spans-committed")[0]?.spans },
      ]);
      const again = await loop.compactor.expand(whole.messages);
      expect(again.messages).toBe(whole.messages);
    });
  },
);
