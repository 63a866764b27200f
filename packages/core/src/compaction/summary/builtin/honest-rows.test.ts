import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { continuationMessage, splitSections } from "../summary-message.ts";
import { summarize } from "./summarize.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);
const summaryOf = (session: ConversationBuilder): string => summarize(session.entries, { countTokens }).text;
const sectionOf = (text: string, name: string): string =>
  splitSections(text).find((section) => section.name === name)?.body ?? "";

/** Starts a conversation after a summary. */
function after(summary: string): ConversationBuilder {
  const session = new ConversationBuilder();
  session.boundary();
  session.summary(
    continuationMessage({ summary, transcriptPath: "/t.jsonl", keptRecent: false, trigger: "auto" }),
  );
  return session;
}

function shell(session: ConversationBuilder, id: string, command: string, output: string): void {
  const isError = output.startsWith("Exit code");
  session.assistant([toolUse(id, "Bash", { command })]);
  session.user([toolResult(id, output, isError)]);
}

const EDIT = { file_path: "/shop/src/cart.ts", old_string: "a", new_string: "b" };

describe("rows about outcomes", () => {
  it("marks last words as such when edits follow them and the assistant reports nothing", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    session.assistant("Good, the old helpers are unused now.");
    session.tool("e", "Edit", EDIT, "ok");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain(
      'no closing message about it, last words: "Good, the old helpers are unused now."',
    );
  });

  it("marks the last words before a summary as such when the work was under way", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    session.assistant("The old helpers are unused now. Let me remove them.");
    session.tool("e", "Edit", EDIT, "ok");
    const next = after(summaryOf(session));
    next.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(next), "Primary Request and Intent");
    expect(requests).toContain('no closing message about it, last words: "The old helpers are unused now."');
  });

  it.each([
    ["It still doesn't work, the cart is empty.", " (the user objected or reported a fault next)"],
    ["[image]\nThere is a bug at the top of the cart.", " (the user objected or reported a fault next)"],
    ["But with a cache, which is fine by me, there's no reason to load the prices again.", ""],
    ["npm run start", " (the user tested this next)"],
    ["Now write the release notes for the shop.", ""],
  ])("says how the user reacted to an outcome that the assistant only stated: %s", (next, reaction) => {
    const build = (session: ConversationBuilder): void => {
      session.user("Add a discount to the cart");
      session.tool("e", "Edit", EDIT, "ok");
      session.assistant("The cart has a discount now.");
    };
    const outcome = `"Add a discount to the cart" → The cart has a discount now.${reaction}`;
    const session = new ConversationBuilder();
    build(session);
    const chained = after(summaryOf(session));
    for (const one of [session, chained]) {
      one.user(next);
      one.assistant("Let me look.");
      const lines = sectionOf(summaryOf(one), "Primary Request and Intent").split("\n");
      expect(lines.map((line) => line.replace(/ \[[^\]]*\]$/, ""))).toContain(`- ${outcome}`);
    }
  });

  it("uses the closing text as the outcome when only reads follow it", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    session.tool("e", "Edit", EDIT, "ok");
    session.assistant("The cart has a discount now.");
    session.tool("r", "Read", { file_path: "/shop/src/cart.ts" }, "1\tb");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain('"Add a discount to the cart" → The cart has a discount now.');
  });

  it("keeps the state of a long error over the next summary", () => {
    const session = new ConversationBuilder();
    session.user("Fix the lint errors");
    const lines = Array.from(
      { length: 6 },
      (_, nth) => `src/${"long-name-".repeat(8)}${nth}.ts:3:1 error: missing`,
    );
    shell(session, "l", "npx eslint .", `Exit code 1\n${lines.join("\n")}`);
    const next = after(summaryOf(session));
    next.assistant("The cart is next.");
    expect(sectionOf(summaryOf(next), "Errors and Fixes")).toMatch(/… → not seen to pass since$/m);
  });

  it("says that an error is fixed after editing the file that a shell command edited", () => {
    const session = new ConversationBuilder();
    session.user("Fix the tests");
    shell(session, "t", "npm test", "Exit code 1\nsrc/cart.test.ts:3:1 error: missing name");
    shell(session, "s", "sed -i s/a/b/ src/cart.test.ts && npm test -- other", "Tests  2 passed (2)");
    session.tool("e", "Edit", { ...EDIT, file_path: "/shop/docs/guide.md" }, "ok");
    shell(session, "t2", "npm test", "Tests  9 passed (9)");
    const errors = sectionOf(summaryOf(session), "Errors and Fixes");
    expect(errors).toContain("→ fixed after editing cart.test.ts");
    expect(errors).not.toContain("guide.md");
  });
});

describe("rows about open work", () => {
  it("lists several failed attempts to commit as one open failure", () => {
    const session = new ConversationBuilder();
    session.user("Commit the cart");
    shell(session, "c1", 'git add src && git commit -m "feat: cart"', "Exit code 1\nerror: format failed");
    shell(session, "c2", 'git commit -m "feat: cart"', "Exit code 1\nerror: types failed");
    const pending = sectionOf(summaryOf(session), "Pending Tasks");
    expect(pending.match(/Failed, not seen to pass since/g)).toHaveLength(1);
    expect(pending).toContain("since: `git commit");
  });

  it("lists no task of a model's summary as open after all its subtasks were reported as closed", () => {
    const summary = "## 7. Pending Tasks\n- shop-7.2 (in progress): add the labels\n- Then push the branch";
    const session = after(summary);
    session.assistant("All 3 subtasks closed.");
    session.tool("s", "Bash", { command: "git status" }, "clean");
    expect(sectionOf(summaryOf(session), "Pending Tasks")).not.toMatch(/labels|push the branch/);
  });

  it("does not say that no file was touched, because a subagent may have changed files", () => {
    const session = new ConversationBuilder();
    session.user("Build the shop");
    expect(sectionOf(summaryOf(session), "Files and Code Sections").trim()).toBe("No files on record.");
  });
});
