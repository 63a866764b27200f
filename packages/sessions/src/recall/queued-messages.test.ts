import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { append, sessionFiles } from "../../../../test/recall/session-file.ts";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { queueSessionArbitrary } from "../../../../test/transcript/queue-session.ts";
import { loadSession } from "../transcript/load.ts";
import { openRecall } from "./open-recall.ts";

const sessionFile = sessionFiles();

const queue = (operation: string, second: number, content?: string): Entry =>
  ({
    type: "queue-operation",
    operation,
    timestamp: `2026-02-01T00:00:0${second}.000Z`,
    ...(content === undefined ? {} : { content }),
  }) as unknown as Entry;

function working(): ConversationBuilder {
  const builder = new ConversationBuilder();
  builder.user("Start.");
  builder.tool("t1", "Bash", { command: "make" }, "made");
  return builder;
}

describe("recall of messages typed while the agent worked", () => {
  it("finds a message that only the queue contains, by its words and by its id", async () => {
    const { entries } = working();
    const lines = [...entries, queue("enqueue", 1, "The zebra stays."), queue("remove", 2)];
    const path = sessionFile(lines);
    const recall = openRecall(path);
    const { hits } = await recall.search({ words: "zebra", all: true });
    expect(hits).toMatchObject([{ kind: "user", who: "user", text: "The zebra stays.", isInContext: true }]);
    const message = (await loadSession(path)).conversation.at(-1);
    expect(hits[0]?.id).toBe(message?.uuid);
    expect((await recall.read(hits[0]?.id ?? "")).pieces).toMatchObject([{ text: "The zebra stays." }]);
  });

  it("does not find queued notifications, commands, texts that still wait or texts that were withdrawn", async () => {
    const { entries } = working();
    const lines = [
      ...entries,
      queue("enqueue", 1, "zebra taken back"),
      queue("popAll", 2),
      queue("enqueue", 3, "<task-notification>zebra</task-notification>"),
      queue("remove", 4),
      queue("enqueue", 5, "/zebra now"),
      queue("remove", 6),
      queue("enqueue", 7, "zebra later"),
    ];
    expect((await openRecall(sessionFile(lines)).search({ words: "zebra", all: true })).total).toBe(0);
  });

  it("finds a queued message only once when its attachment is written after the index", async () => {
    const builder = working();
    const lines = [...builder.entries, queue("enqueue", 1, "The zebra stays."), queue("remove", 2)];
    const path = sessionFile(lines);
    expect((await openRecall(path).search({ words: "zebra", all: true })).total).toBe(1);
    append(path, [builder.attachment({ type: "queued_command", prompt: "The zebra stays." })]);
    const { hits } = await openRecall(path).search({ words: "zebra", all: true });
    expect(hits.map(({ kind }) => kind)).toEqual(["attachment"]);
  });

  it("finds each queued message only once, however the session grew", async () => {
    await fc.assert(
      fc.asyncProperty(queueSessionArbitrary, fc.nat(), async ({ lines, all }, cut) => {
        const at = cut % lines.length;
        const path = sessionFile(lines.slice(0, at + 1));
        await openRecall(path).search({ words: "typed", all: true });
        append(path, lines.slice(at + 1));
        for (const text of ["typed 0", "typed 1"]) {
          const { total } = await openRecall(path).search({ exact: text, all: true, limit: 100 });
          expect(total).toBe(all.filter((one) => one === text).length);
        }
      }),
      { numRuns: 60 },
    );
  });
});
