import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { after, sectionOf, summaryOf } from "./read-summary.case.ts";

const workIn = (text: string): readonly string[] =>
  sectionOf(text, "Problem Solving")
    .split("\n")
    .filter((line) => line.startsWith("- Work at "));

let calls = 0;
function shell(session: ConversationBuilder, command: string, output: string): void {
  const id = `call-${++calls}`;
  const isError = output.startsWith("Exit code");
  session.assistant([toolUse(id, "Bash", { command })]);
  session.user([toolResult(id, output, isError)]);
}

function started(): ConversationBuilder {
  const session = new ConversationBuilder();
  session.user("Add a discount to the cart");
  return session;
}

describe("rows about the work at summaries", () => {
  it("shows at which step the assistant said its last words, if it worked on after them", () => {
    const session = started();
    session.assistant("All prices are right now. I run them once more.");
    shell(session, "node prices.mjs", "7 of 9 prices are right");
    const first = summaryOf(session);
    expect(sectionOf(first, "Current Work")).toMatch(
      /- said: \(quoted below\)\n- ran `node prices\.mjs`\n[\s\S]*> All prices are right now\./,
    );
    const next = after(first);
    next.assistant("Two prices are wrong.");
    const second = summaryOf(next);
    expect(workIn(second)).toEqual([
      '- Work at the last summary: said: "All prices are right now. I run them once more."; ran `node prices.mjs`',
    ]);
  });

  it("merges edits of one file only if no other step is between them", () => {
    const edit = (session: ConversationBuilder, id: string): void =>
      session.tool(id, "Edit", { file_path: "/shop/cart.ts", old_string: "a", new_string: id }, "ok");
    const session = started();
    edit(session, "e1");
    session.assistant("Perfect!");
    edit(session, "e2");
    session.assistant("Now let me also add a price for each currency:");
    edit(session, "e3");
    shell(session, "node prices.mjs", "9 prices");
    session.assistant("All prices are right.");
    const first = summaryOf(session);
    expect(sectionOf(first, "Current Work")).toContain(
      '- edited `/shop/cart.ts` (2×)\n- said: "Now let me also add a price for each currency:"\n- edited `/shop/cart.ts`\n- ran `node prices.mjs`\n',
    );
    const next = after(first);
    next.user("Write the release notes");
    next.assistant("The notes are written.");
    expect(workIn(summaryOf(next)).join()).toContain(
      'edited `/shop/cart.ts` (2×); said: "Now let me also add a price for each currency:"; edited `/shop/cart.ts`; ran',
    );
  });

  it("labels the assistant's last words again when nothing was done since the last summary", () => {
    const session = started();
    session.tool("e", "Edit", { file_path: "/shop/cart.ts", old_string: "a", new_string: "b" }, "ok");
    session.assistant("The cart has a discount now.");
    const label = "**The assistant's last words before the last summary, verbatim:**";
    const next = after(summaryOf(session));
    next.user("Write the release notes for the shop");
    const second = summaryOf(next);
    expect(sectionOf(second, "Current Work")).toContain(`${label}\n> The cart has a discount now.`);
    const third = after(second);
    third.user("Publish the shop then");
    const text = summaryOf(third);
    expect(sectionOf(text, "Current Work").match(/\*\*The assistant's last words/g)).toHaveLength(1);
    expect(sectionOf(text, "Current Work")).toContain(`${label}\n> The cart has a discount now.`);
  });

  it("adds words that close the work to the steps before them", () => {
    const session = started();
    shell(session, "node prices.mjs", "9 of 9 prices are right");
    session.assistant("All prices are right.");
    const next = after(summaryOf(session));
    next.user("Now the list");
    expect(workIn(summaryOf(next))).toEqual([
      "- Work at the last summary: ran `node prices.mjs` — All prices are right.",
    ]);
  });

  it("calls work the last only until the next summary, also in summaries of earlier versions", () => {
    const earlier = [
      "## 5. Problem Solving",
      "- Work at the last summary: ran `npm test` → FAILED (2 failed (of 9)); read `a.ts`",
      "- Work at the last summary: ran `npm run lint` → some runs FAILED, others passed; edited `b.ts`",
      "## 8. Current Work",
      "- edited `c.ts`",
      "- ran `npm test` → FAILED (1 failed)",
    ].join("\n");
    const next = after(earlier);
    next.assistant("It works.");
    const text = summaryOf(next);
    expect(workIn(text)).toEqual([
      "- Work at an earlier summary: ran `npm test`; read `a.ts`",
      "- Work at an earlier summary: ran `npm run lint`; edited `b.ts`",
      "- Work at the last summary: edited `c.ts`; ran `npm test`",
    ]);
    const third = after(text);
    third.assistant("It still works.");
    expect(workIn(summaryOf(third)).map((line) => line.slice(0, 30))).toEqual([
      "- Work at an earlier summary: ",
      "- Work at an earlier summary: ",
      "- Work at an earlier summary: ",
      "- Work at the last summary: It",
    ]);
  });

  it("says that a call which the user refused was not run", () => {
    const session = started();
    session.assistant([toolUse("r", "Bash", { command: "rm -rf dist", description: "Remove the build" })]);
    session.user([
      toolResult(
        "r",
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        true,
      ),
    ]);
    const work = sectionOf(summaryOf(session), "Current Work");
    expect(work).toContain("- Bash: Remove the build → not run (refused by the user)\n");
    expect(work).not.toMatch(/failed/i);
  });

  it("says that the assistant wrote a file, and not that it edited a file, if it wrote the whole file", () => {
    const session = started();
    session.tool("w", "Write", { file_path: "/shop/src/cart.ts", content: "x" }, "File created successfully");
    session.assistant("Done.");
    expect(sectionOf(summaryOf(session), "Current Work")).toContain("- wrote `/shop/src/cart.ts`\n");
  });

  it("names the branch that git names, also after the next summary, until the noted branch changes", () => {
    const noted = { cwd: "/shop", gitBranch: "start" };
    const session = started();
    session.assistant([toolUse("g", "Bash", { command: "git status" })], noted);
    session.user([toolResult("g", "On branch cart\nnothing to commit")], noted);
    const first = summaryOf(session);
    const next = after(first);
    next.assistant("Done.", noted);
    const second = summaryOf(next);
    for (const text of [first, second])
      expect(sectionOf(text, "Primary Request and Intent")).toContain(
        "git branch `cart` (noted as `start`).",
      );
    const third = after(second);
    third.assistant("Done.", { ...noted, gitBranch: "release" });
    expect(sectionOf(summaryOf(third), "Primary Request and Intent")).toContain("git branch `release`.");
  });
});
