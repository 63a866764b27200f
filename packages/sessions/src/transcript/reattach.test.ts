import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { currentConversation } from "./relink.ts";

const found = (entries: readonly Entry[]): (string | undefined)[] =>
  currentConversation(entries).entries.map((entry) => entry.uuid);

/** Builds a response with two calls. The parent of the next response is the second result alone. */
function parallel(): ConversationBuilder {
  const b = new ConversationBuilder();
  b.user("question");
  b.assistant([toolUse("a", "Read", {})], { id: "m" });
  b.user([toolResult("a", "first")]);
  b.assistant([toolUse("b", "Read", {})], { id: "m", parentUuid: "e-2" });
  b.user([toolResult("b", "second")]);
  return b;
}

describe("parallel tool calls in a loaded conversation", () => {
  it("restores parallel tool calls and results that are not ancestors of the next response", () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant([toolUse("a", "Read", {})], { id: "m" });
    b.assistant([toolUse("b", "Read", {})], { id: "m" });
    b.user([toolResult("b", "second")], { parentUuid: "e-3" });
    b.user([toolResult("a", "first")], { parentUuid: "e-2" });
    b.assistant("next", { id: "n" });
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-3", "e-4", "e-5", "e-6"]);
  });

  it("puts a late result of a parallel tool call before the next response, not after it", () => {
    const b = parallel();
    b.entries.splice(2, 1);
    b.assistant("next", { id: "n" });
    b.user([toolResult("a", "late")], { parentUuid: "e-2" });
    b.user("after that", { parentUuid: "e-6" });
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-4", "e-5", "e-7", "e-6", "e-8"]);
  });

  it("keeps the attachments that hooks added to the result of a parallel tool call", () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant([toolUse("a", "Read", {})], { id: "m" });
    b.user([toolResult("a", "first")]);
    b.attachment({ type: "hook_additional_context" });
    b.assistant([toolUse("b", "Read", {})], { id: "m", parentUuid: "e-2" });
    b.user([toolResult("b", "second")]);
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-3", "e-4", "e-5", "e-6"]);
  });

  it("finds parallel tool calls that progress lines separate, and leaves the progress lines out", () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant([toolUse("a", "Bash", {})], { id: "m" });
    b.push({ ...b.link(), type: "progress", data: {} });
    b.assistant([toolUse("b", "Bash", {})], { id: "m" });
    b.user([toolResult("b", "second")]);
    b.user([toolResult("a", "first")], { parentUuid: "e-2" });
    b.assistant("next", { id: "n" });
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-4", "e-5", "e-6", "e-7"]);
  });

  it("ignores a second result for a tool call that already has a result", () => {
    const b = parallel();
    b.user([toolResult("b", "again")], { parentUuid: "e-4" });
    b.assistant("next", { id: "n", parentUuid: "e-5" });
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-3", "e-4", "e-5", "e-7"]);
  });
});

describe("abandoned branches", () => {
  it("leaves out an abandoned branch that contains a copy of a current response", () => {
    const b = new ConversationBuilder();
    b.user("first wording");
    b.assistant("answer", { id: "m" });
    b.user("second wording", { parentUuid: null });
    b.assistant("answer", { id: "m" });
    expect(found(b.entries)).toEqual(["e-3", "e-4"]);
  });

  it("leaves out an abandoned response with the same parent and text as the current response", () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant("answer", { id: "m" });
    b.assistant("answer", { id: "m", parentUuid: "e-1" });
    b.user("next");
    expect(found(b.entries)).toEqual(["e-1", "e-3", "e-4"]);
  });

  it("leaves out an abandoned branch with all its calls and results", () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant([toolUse("a", "Read", {})], { id: "left" });
    b.user([toolResult("a", "left")]);
    b.attachment({ type: "task_reminder" });
    b.user("another question", { parentUuid: "e-1" });
    expect(found(b.entries)).toEqual(["e-1", "e-5"]);
  });

  it("leaves out a subagent's tool result, even if the result has the id of a call in the main conversation", () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant([toolUse("a", "Task", {})], { id: "m" });
    b.user([toolResult("a", "the subagent's own line")], { isSidechain: true, parentUuid: null });
    b.user("interrupted", { parentUuid: "e-2" });
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-4"]);
  });
});
