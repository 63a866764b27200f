import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Message } from "@longhaul/core";
import { resumeSession } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTranscript } from "../support/open-transcript.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { type AgentLoop, connect } from "./agent-loop.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { openScene, type Scene, workUntil } from "./scene.case.ts";

const folder = temporaryFolder();
let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ keepBodies: 200 });
});
afterEach(() => scene.simulator.close());

const binding = () => connect(scene.simulator, "claude-opus-5-5", { onThinkingMismatch: "fail" });

const thinkingIn = (messages: unknown): number =>
  JSON.stringify(messages).split('"type":"thinking"').length - 1;

const thinksInNewestReply = ({ conversation: { messages } }: AgentLoop): boolean =>
  thinkingIn(messages.slice(newestReply(messages))) > 0;

async function expectNoRefusal(loop: AgentLoop): Promise<void> {
  expect(await workUntil(loop, () => thinksInNewestReply(loop))).toBe(true);
  await loop.turn();
  expect([loop.recoveries, scene.simulator.requests.invalid]).toEqual([0, []]);
}

/** Runs a session with thinking in every reply and ends its process. */
async function endedSession(path: string): Promise<void> {
  const writer = await openTranscript(path);
  const loop = scene.loop({ form: "messages", model: binding(), compactor: { transcript: writer } });
  await loop.run(6);
  expect(thinkingIn(loop.conversation.messages)).toBeGreaterThan(2);
  await loop.compactor.before(loop.conversation.messages, { caller: "compact" });
  await loop.compactor.close();
  await writer.close();
}

async function resumedLoop(path: string): Promise<AgentLoop> {
  const { conversation } = await resumeSession(path);
  return scene.loop({
    form: "entries",
    model: binding(),
    resumed: conversation,
    seed: 7,
    compactor: { transcript: await openTranscript(path) },
  });
}

describe("thinking in a resumed session", () => {
  it("the engine sends thinking unchanged when the session file still has the same messages", async () => {
    const path = join(folder, "same.jsonl");
    await endedSession(path);
    const loop = await resumedLoop(path);
    const before = thinkingIn(loop.conversation.messages);
    await loop.turn();
    expect(thinkingIn(scene.simulator.requests.all.at(-1)?.body?.messages)).toBe(before);
    expect(loop.eventsOf("thinking-left-out")).toEqual([]);
    await expectNoRefusal(loop);
  });

  it("the engine omits thinking after a session line that another program changed", async () => {
    const path = join(folder, "changed.jsonl");
    await endedSession(path);
    writeFileSync(path, changedFile(readFileSync(path, "utf8")));
    const loop = await resumedLoop(path);
    await loop.turn();
    expect(loop.eventsOf("thinking-left-out")).toMatchObject([{ reason: "rewrite" }]);
    await expectNoRefusal(loop);
    await loop.compactor.close();
    const again = await resumedLoop(path);
    await expectNoRefusal(again);
  });
});

/** Returns the session file with a different text in the first message of the person. */
function changedFile(file: string): string {
  const lines = file.split("\n");
  const at = lines.findIndex((line) => line !== "" && (JSON.parse(line) as Entry).type === "user");
  lines[at] = JSON.stringify(withOtherWords(JSON.parse(lines[at] ?? "") as Message));
  return lines.join("\n");
}

describe.each<Form>(["messages", "entries"])("thinking for a host with its own list of %s", (form) => {
  it("the provider accepts a request in which the host moved a reply behind other messages", async () => {
    const loop = scene.loop({ form, model: binding() });
    await loop.run(6);
    const [first, ...rest] = loop.conversation.messages as [Message, ...Message[]];
    const compacted = await loop.compactor.compact(loop.conversation.messages, {
      force: true,
      keepRecentTokens: 0,
    });
    loop.conversation.resumeFrom(compacted.messages);
    expect(await workUntil(loop, () => thinksInNewestReply(loop))).toBe(true);
    const start = rest.slice(0, newestReply(rest.slice(0, 6)));
    const { messages } = loop.conversation;
    loop.conversation.resumeFrom([withOtherWords(first), ...start, ...messages.slice(newestReply(messages))]);
    await expectNoRefusal(loop);
  });
});

const withOtherWords = (message: Message): Message =>
  ("role" in message
    ? { ...message, content: "Other words." }
    : { ...message, message: { role: "user", content: "Other words." } }) as Message;

/** Returns the index of the newest reply. Entries of one response are adjacent. */
function newestReply(messages: readonly Message[]): number {
  const isReply = (message: Message | undefined): boolean =>
    message !== undefined && ("role" in message ? message.role : message.type) === "assistant";
  let at = messages.findLastIndex(isReply);
  while (isReply(messages[at - 1])) at -= 1;
  return at;
}
