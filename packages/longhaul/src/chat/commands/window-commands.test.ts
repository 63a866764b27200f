import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "@longhaul/agent";
import type { Entry } from "@longhaul/core/messages";
import { compactSession, loadSession, writeCompaction } from "@longhaul/sessions";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { type FakeScreen, fakeAgent, fakeScreen } from "../../../../../test/support/fake-chat.ts";
import type { CollapsedSpan } from "../../../../core/src/messages/stand-ins.ts";
import { linesOf } from "../../../../sessions/src/transcript/whole-file.ts";
import { Folded } from "../folded.ts";
import type { Chosen } from "../screen/screen.ts";
import { Tally } from "../tally.ts";
import { viewTerminal } from "../view-terminal.ts";
import { commandIn } from "./commands.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longhaul-window-commands-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly said: string;
  readonly screen: FakeScreen;
}

/** Runs a command with these answers and returns the shown text. */
async function written(
  text: string,
  parts: Partial<Agent>,
  chosen: readonly (Chosen | undefined)[] = [],
): Promise<Ran> {
  const called = commandIn(text);
  if (called === undefined) throw new Error(`${text} is no command.`);
  const screen = fakeScreen({ chosen });
  const said: string[] = [];
  await called.command.run(called.argument, {
    agent: fakeAgent(parts),
    screen,
    terminal: viewTerminal(screen),
    composition: {
      terminal: viewTerminal(screen),
      places: { home: folder, env: {} },
      prices: {},
      now: () => new Date("2026-01-01T02:00:00Z"),
    },
    tally: new Tally({}),
    folded: new Folded(),
    signal: new AbortController().signal,
    say: (words) => void said.push(words),
    modelNamed: async (name) => ({ name }) as Agent["model"],
    resumeFrom: async () => undefined,
    leave: () => undefined,
  });
  return { said: said.join("\n"), screen };
}

/** Creates three rounds of a prompt, a call, its result and an answer. */
function threeRounds(): readonly Entry[] {
  const c = new ConversationBuilder();
  for (const nth of [1, 2, 3]) {
    c.user(`prompt ${nth}`);
    c.tool(`toolu_${nth}`, "Read", { file_path: `/${nth}` }, `what ${nth} says. `.repeat(40));
    c.assistant(`answer ${nth}`);
  }
  return c.entries;
}

const promptsOf = (entries: readonly Entry[]): Agent["prompts"] => {
  const points = entries.flatMap((entry) =>
    entry.type === "user" && typeof entry.message.content === "string"
      ? [
          {
            uuid: entry.uuid,
            text: entry.message.content,
            timestamp: entry.timestamp,
            compactionsSince: 0,
          },
        ]
      : [],
  );
  return async () => points.toReversed();
};

describe("/rewind", () => {
  const conversation = threeRounds();
  const actions = () => ({
    rewind: vi.fn(async () => undefined),
    compact: vi.fn(async () => undefined),
    prompts: promptsOf(conversation),
    conversation,
  });

  it("/rewind removes the chosen prompt and all later messages, and puts the prompt into the input line", async () => {
    const agent = actions();
    const { screen } = await written("/rewind", agent, [{ picked: [1] }, { picked: [0] }]);
    expect(agent.rewind).toHaveBeenCalledExactlyOnceWith("e-5");
    expect(screen.suggested).toEqual(["prompt 2"]);
    expect(agent.compact).not.toHaveBeenCalled();
  });

  it.each([
    [1, { from: "e-5" }],
    [2, { upTo: "e-5" }],
  ])("option %i of /rewind compacts the conversation with %j", async (option, expected) => {
    const agent = actions();
    const { screen } = await written("/rewind", agent, [{ picked: [1] }, { picked: [option] }]);
    expect(agent.compact).toHaveBeenCalledExactlyOnceWith({
      ...expected,
      force: true,
      signal: expect.anything(),
    });
    expect(agent.rewind).not.toHaveBeenCalled();
    expect(screen.asked[1]?.options.map(({ label }) => label)).toEqual([
      "Go back",
      "Summarize from here",
      "Summarize up to here",
    ]);
    expect(screen.asked[1]?.options[1]?.description).toMatch(
      /^this prompt and everything after it: 8 messages, about/,
    );
    expect(screen.asked[1]?.options[2]?.description).toMatch(
      /^everything before this prompt: 4 messages, about/,
    );
  });

  it("/rewind offers no summary up to the first prompt, and no summary at a prompt outside the context", async () => {
    const first = await written("/rewind", actions(), [{ picked: [2] }, undefined]);
    expect(first.screen.asked[1]?.options).toHaveLength(2);
    const elsewhere = { ...actions(), conversation: conversation.slice(4) };
    const gone = await written("/rewind", elsewhere, [{ picked: [2] }, undefined]);
    expect(gone.screen.asked[1]).toMatchObject({
      detail: "This prompt is no longer in the context, so you can only go back to it.",
      options: [{ label: "Go back" }],
    });
  });

  it("/rewind does nothing when the person declines to choose a prompt or an action", async () => {
    for (const answers of [[undefined], [{ picked: [0] }, undefined]]) {
      const agent = actions();
      await written("/rewind", agent, answers);
      expect(agent.rewind).not.toHaveBeenCalled();
      expect(agent.compact).not.toHaveBeenCalled();
    }
  });
});

describe("/snip", () => {
  const conversation = threeRounds();
  const idsOf = (...rounds: readonly number[]): readonly unknown[] =>
    rounds.flatMap((nth) => conversation.slice((nth - 1) * 4, nth * 4).map(({ uuid }) => uuid));
  const result = { messages: 4, added: 0, spared: 0, tokensFreed: 300 };

  it.each([
    ["/snip 2", [2]],
    ["/snip 1-2", [1, 2]],
    ["/snip 3-2", [2, 3]],
    ["/snip 1, 3", [1, 3]],
    ["/snip 1 2-3 2", [1, 2, 3]],
  ])("the chat command %j removes the rounds with these numbers", async (text, rounds) => {
    const snip = vi.fn(async () => result);
    const { said } = await written(text, { snip, conversation });
    expect(snip).toHaveBeenCalledExactlyOnceWith({ ids: idsOf(...rounds) });
    expect(said).toBe("/undo restores them, /recall finds them.");
  });

  it("/snip without an argument lists the rounds with their sizes, and removes the rounds that the person selects", async () => {
    const snip = vi.fn(async () => result);
    const { screen } = await written("/snip", { snip, conversation }, [{ picked: [0, 2] }]);
    expect(snip).toHaveBeenCalledExactlyOnceWith({ ids: idsOf(1, 3) });
    expect(screen.asked[0]?.options.map(({ label }) => label)).toEqual(["prompt 1", "prompt 2", "prompt 3"]);
    expect(screen.asked[0]?.options[0]?.description).toMatch(/^4 messages, about \d+ tokens, 2 h ago$/);
  });

  it("/snip rejects a round that does not exist, and removes nothing", async () => {
    const snip = vi.fn(async () => result);
    await expect(written("/snip 2-4", { snip, conversation })).rejects.toMatchObject({
      code: "command-misused",
      message: "Invalid use of /snip: there is no round 4, because the conversation has only 3 rounds.",
      remedy: "/snip without an argument lists them.",
    });
    await expect(written("/snip 0", { snip, conversation })).rejects.toThrow("there is no round 0");
    await expect(written("/snip 1", { snip })).rejects.toThrow(
      "there is no round 1, because the conversation has no round",
    );
    expect((await written("/snip", { snip })).said).toBe("There is nothing to remove yet.");
    await written("/snip", { snip, conversation }, [undefined]);
    expect(snip).not.toHaveBeenCalled();
  });

  it("/snip shows one round for all messages that a compaction kept, and never lists the summary", async () => {
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("A summary.");
    c.assistant("kept answer");
    c.user("new prompt");
    const snip = vi.fn(async () => result);
    const { screen } = await written("/snip", { snip, conversation: c.entries }, [{ picked: [0] }]);
    expect(screen.asked[0]?.options.map(({ label }) => label)).toEqual([
      "(kept by the last compaction)",
      "new prompt",
    ]);
    expect(snip).toHaveBeenCalledExactlyOnceWith({ ids: ["e-3"] });
  });
});

describe("/collapse", () => {
  const span = (nth: number): Entry => {
    const c = new ConversationBuilder(`s${nth}`);
    const collapsed = {
      spanId: `span-${nth}`,
      messages: 6,
      uuids: ["x"],
      tokensBefore: 4_000,
      tokensAfter: 300,
    };
    return { ...c.user(`It was about harbor ${nth}.`, { isMeta: true }), collapsed } as CollapsedSpan;
  };
  const conversation = [span(1), span(2), ...threeRounds()];

  it("/collapse shows whether context collapse is on, and lists the collapsed spans", async () => {
    const { said } = await written("/collapse", { isCollapseOn: true, conversation });
    expect(said).toContain("Context collapse is on");
    expect(said).toContain("2 collapsed spans");
    expect(said).toMatch(/2\. 6 messages, 4,000 → 300 tokens\s+It was about harbor 2\./);
    expect((await written("/collapse", { isCollapseOn: false })).said).toContain("No span is collapsed.");
  });

  it.each(["on", "off"])("/collapse %s switches context collapse", async (word) => {
    const setCollapse = vi.fn(async () => undefined);
    await written(`/collapse ${word}`, { setCollapse });
    expect(setCollapse).toHaveBeenCalledExactlyOnceWith(word === "on");
  });

  it("/collapse expand restores the spans with the given numbers, or the spans that the person selects", async () => {
    const expand = vi.fn(async () => undefined);
    await written("/collapse expand 2", { expand, conversation });
    expect(expand).toHaveBeenLastCalledWith(["span-2"]);
    await written("/collapse expand 1-2", { expand, conversation });
    expect(expand).toHaveBeenLastCalledWith(["span-1", "span-2"]);
    await written("/collapse expand", { expand, conversation }, [{ picked: [0] }]);
    expect(expand).toHaveBeenLastCalledWith(["span-1"]);
    expect((await written("/collapse expand", { expand })).said).toBe("No span is collapsed.");
    await expect(written("/collapse expand 3", { expand, conversation })).rejects.toMatchObject({
      code: "command-misused",
      remedy: "/collapse without an argument lists them.",
    });
    expect(expand).toHaveBeenCalledTimes(3);
  });
});

describe("/summary", () => {
  it("/summary shows the summary of each compaction in the session file, newest first", async () => {
    const path = join(folder, "summaries.jsonl");
    writeFileSync(path, linesOf(threeRounds()));
    for (const keepRecentTokens of [200, 0]) {
      const plan = { keepRecentTokens, force: true };
      await writeCompaction(await compactSession(await loadSession(path), plan), { mode: "in-place" });
    }
    const { conversation } = await loadSession(path);
    const agent = { sessionPath: path, conversation };
    const newest = (await written("/summary", agent)).said;
    expect(newest).toMatch(/^Compacted: [\d,]+ → [\d,]+ tokens · 1 of 2/);
    expect(newest).toContain("prompt 1");
    expect(newest).not.toContain("This conversation continues an earlier one");
    expect((await written("/summary 2", agent)).said).toContain("2 of 2");
    expect((await written("/summary 3", agent)).said).toBe("There are only 2 compactions.");
  });

  it("/summary reports that nothing was compacted", async () => {
    expect((await written("/summary", {})).said).toBe("This conversation has not been compacted.");
  });
});
