import { LonghaulError } from "@longhaul/core/errors";
import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../test/support/builders.ts";
import { chooseMessage } from "./message-choice.ts";

const named = (...uuids: readonly string[]): readonly Entry[] =>
  uuids.map((uuid) => ({ ...new ConversationBuilder().user("x"), uuid }));

function refusal(conversation: readonly Entry[], wanted: string): LonghaulError {
  try {
    chooseMessage(conversation, wanted);
  } catch (error) {
    if (error instanceof LonghaulError) return error;
  }
  throw new Error("chosen");
}

describe("chooseMessage", () => {
  it("finds a message by its uuid or by a prefix that only one message has", () => {
    expect(chooseMessage(named("abc1", "abd2"), "abd2")).toBe("abd2");
    expect(chooseMessage(named("abc1", "abd2"), "abc")).toBe("abc1");
  });

  it("chooses the message with exactly the given uuid, even if other uuids begin with the same characters", () => {
    expect(chooseMessage(named("a-1", "a-10", "a-11"), "a-1")).toBe("a-1");
  });

  it("lists some messages that match an ambiguous prefix, and asks for a longer prefix", () => {
    const { code, message, remedy } = refusal(named("a1", "a2", "a3", "a4"), "a");
    expect([code, message]).toEqual([
      "id-ambiguous",
      "Ambiguous id: 4 messages have an id that starts with a: a1, a2, a3 and others.",
    ]);
    expect(remedy).toMatch(/more of the id.*--prompts/);
  });

  it("chooseMessage ignores entries without a uuid, and rejects an empty or unknown prefix", () => {
    const title = { type: "summary", summary: "t" } as unknown as Entry;
    expect(chooseMessage([title, ...named("a1")], "a")).toBe("a1");
    expect(refusal([title, ...named("a1")], "").code).toBe("message-not-found");
    expect(refusal(named("a1"), "b").message).toBe(
      "No message found: no message of the current conversation has an id that starts with b.",
    );
  });
});
