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
