import { describe, expect, it } from "vitest";
import { readDirective } from "./directive-type.ts";

describe("types of directives", () => {
  it.each([
    "Avoid code duplication",
    "Do not store personal data.",
    "We prefer small commits",
    "No new dependencies, please",
    "Never push to main. Answer within 250 ms.",
    "Keep the public names",
    "Make sure that every page has a title",
    "Évite les dépendances",
    "不要修改这个文件",
  ])("reads a text that only states a rule as a rule: %s", (text) => {
    expect(readDirective(text)).toEqual({ type: "rule", rules: [] });
  });

  it.each([
    ["Add a menu, but don't touch the header", ["don't touch the header"]],
    ["Add a menu. Avoid code duplication.", ["Avoid code duplication."]],
    ["Let's update the guide, and make sure it stays short", ["make sure it stays short"]],
    ["Can you add a menu? Never use inline styles.", ["Never use inline styles."]],
  ])("finds the rules inside a request: %s", (text, rules) => {
    expect(readDirective(text)).toEqual({ type: "request", rules });
  });

  it("reads a sentence that keeps a piece of the code as a part of a long plan, unless it says always", () => {
    const plan = "Implement this plan.\n\n".padEnd(1_600, "- Add a table of prices to the shop.\n");
    const rulesAfter = (sentence: string): readonly string[] => readDirective(`${plan}\n${sentence}`).rules;
    expect(rulesAfter("- Keep `PAGE_SIZE` (used by the export).")).toEqual([]);
    expect(rulesAfter("- Only `prices.ts` changes.")).toEqual([]);
    for (const rule of [
      "Always keep `PAGE_SIZE` below 50.",
      "Do not touch `legacy/`.",
      "Keep the public names.",
    ])
      expect(rulesAfter(rule)).toEqual([rule]);
  });

  it.each([
    "Why is this slow?",
    "Is it done already?",
    "how can we test it?",
    "I see four files. Which one is new?",
  ])("reads a text that asks only for words as a question: %s", (text) => {
    expect(readDirective(text).type).toBe("question");
  });

  it.each([
    "Can you add a test?",
    "Before we continue, can we also check the comments?",
    "fix the comments that confused the reviewer?",
    "Something broke the upload",
  ])("reads a text that asks for work as a request, even with a question mark: %s", (text) => {
    expect(readDirective(text)).toEqual({ type: "request", rules: [] });
  });

  it.each([
    "my account name is orange-7",
    "We run Node 22 on all servers.",
    "But if the export is that fast, there's no reason to keep the queue. That can just live in the worker.",
    "The designs are in the folder of the last release.",
  ])("reads a text that only tells something as a statement: %s", (text) => {
    expect(readDirective(text)).toEqual({ type: "statement", rules: [] });
  });

  it.each([
    "The upload is broken",
    "it doesn't look like a menu",
    "There are 4 unresolved comments",
    "all colors look the same now",
    "We need a second page",
    "The third one is better, implement it with the new colors.",
    "In the upload handler, the listener waits too long; change the listener to a timer and do not await the cleanup.",
    "when saving a page we might warn about drafts. can we just save them automatically instead?",
    "That works, and we can just keep them",
  ])("reads a text that wants a change as a request, even without an imperative at its start: %s", (text) => {
    expect(readDirective(text).type).toBe("request");
  });

  it("reads a question without a question mark as a question", () => {
    expect(readDirective("what is the test coverage of the parser now").type).toBe("question");
  });

  it.each([
    "The easiest way, theoretically, would be to always use the color of the parent.",
    "That tests it too and we can just keep them",
    "Move the tests and keep them",
  ])("reads no rule in an idea that is not decided, or that names no subject: %s", (text) => {
    const { type, rules } = readDirective(`Build the menu. ${text}`);
    expect({ type, rules }).toEqual({ type: "request", rules: [] });
  });

  it("reads a preference after an introduction as a rule", () => {
    expect(
      readDirective("Build the page. And for the colors, I actually prefer the first draft.").rules,
    ).toEqual(["And for the colors, I actually prefer the first draft."]);
  });

  it("takes no rules from output that the user pasted", () => {
    const log = Array.from(
      { length: 60 },
      (_, nth) => `2026-01-0${nth % 9} step ${nth}: must never fail`,
    ).join("\n");
    expect(readDirective(`The nightly run is red:\n${log}\nNo fixes applied.`).rules).toEqual([]);
  });

  it("reads a rule in a paragraph with hard line breaks as one sentence", () => {
    expect(readDirective("Add a menu. Please do not change the\ncolors of the header.").rules).toEqual([
      "Please do not change the colors of the header.",
    ]);
  });

  it("reads a megabyte on one line", () => {
    expect(readDirective(`Add this: ${"and but don't ".repeat(70_000)}`).type).toBe("request");
  });
});
