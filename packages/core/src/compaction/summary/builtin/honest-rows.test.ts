import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { after, sectionOf, summaryOf } from "./read-summary.case.ts";

function shell(session: ConversationBuilder, id: string, command: string, output: string): void {
  const isError = output.startsWith("Exit code");
  session.assistant([toolUse(id, "Bash", { command })]);
  session.user([toolResult(id, output, isError)]);
}

const EDIT = { file_path: "/shop/src/cart.ts", old_string: "a", new_string: "b" };

describe("rows about outcomes", () => {
  it("gives no words from the middle of the work as the outcome of a request", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    session.assistant("Good, the old helpers are unused now.");
    session.tool("e", "Edit", EDIT, "ok");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain(
      'discount to the cart" → still under way at the next message [edited cart.ts]',
    );
    expect(requests).not.toMatch(/ → .*old helpers/);
  });

  it("names no commit that was amended or reset later, also after a summary", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    shell(session, "c", 'git commit -m "feat: discount"', "[main 1a2b3c4] feat: discount");
    session.assistant("The cart has a discount now.");
    session.user("Describe the discount in the guide");
    shell(session, "d", 'git commit -m "docs: discount"', "[main 2b3c4d5] docs: discount");
    session.assistant("The guide describes the discount.");
    session.user("Now write the release notes");
    const next = after(summaryOf(session));
    for (const one of [session, next]) {
      shell(
        one,
        "a",
        "git reset --soft HEAD~1 && git commit --amend --no-edit",
        "[main 3c4d5e6] feat: discount",
      );
      one.assistant("The notes are written.");
      one.user("Publish the shop");
      const requests = sectionOf(summaryOf(one), "Primary Request and Intent");
      expect(requests).not.toMatch(/1a2b3c4|2b3c4d5/);
      expect(requests).toContain("The guide describes the discount.\n");
    }
    expect(sectionOf(summaryOf(session), "Primary Request and Intent")).toContain("[commit 3c4d5e6]");
  });

  it("says that a closing report also lists work that is left", () => {
    const session = new ConversationBuilder();
    session.user("Do what the reviewer wrote about the cart");
    session.tool("e", "Edit", EDIT, "ok");
    session.assistant(
      "All changes are pushed.\n\n**Remaining feedback for later:**\n- tests of the cart\n- type guards",
    );
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain("→ All changes are pushed. (it also lists remaining work) [edited cart.ts]");
  });

  it("counts two edited files with the same name as two, and names their folders", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    for (const path of ["/shop/src/cart.ts", "/shop/page/cart.ts", "/shop/a.ts", "/shop/b.ts", "/shop/c.ts"])
      session.tool(path, "Edit", { ...EDIT, file_path: path }, "ok");
    session.assistant("The cart has a discount now.");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain("[edited src/cart.ts, page/cart.ts, a.ts, b.ts +1]");
  });

  it("names no last test run whose result was not seen", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    shell(session, "t", "go test ./cart", "ok  \tshop/cart\t0.1s");
    shell(session, "u", "go test ./cart > /dev/null; echo done", "done");
    session.assistant("The cart has a discount now.");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain('to the cart" → The cart has a discount now.\n');
  });

  it("says after a summary that the earlier request was still under way at the next message", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    session.assistant("The old helpers are unused now. Let me remove them.");
    session.tool("e", "Edit", EDIT, "ok");
    const next = after(summaryOf(session));
    next.user("continue");
    next.assistant("The cart has a discount now.");
    next.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(next), "Primary Request and Intent");
    expect(requests).toContain('discount to the cart" → still under way at the next message');
    expect(requests).toMatch(/"continue".* → for the last 2 requests: The cart has a discount now\./);
  });

  it.each<[string, (session: ConversationBuilder, words: string) => void]>([
    [
      "interrupts the work",
      (session, words) => {
        session.user("[Request interrupted by user]");
        session.user(words);
      },
    ],
    ["sends a message while a tool runs", (session, words) => session.user(words)],
    [
      "sends a message that the agent queues",
      (session, words) => session.attachment({ type: "queued_command", prompt: words }),
    ],
    [
      "refuses a tool call and says why",
      (session, words) => {
        session.assistant([toolUse("r", "Bash", { command: "npm publish" })]);
        session.user([
          toolResult(
            "r",
            `The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n${words}`,
            true,
          ),
        ]);
      },
    ],
  ])("gives the report and the proofs to all requests that it closes when the user %s", (_how, say) => {
    const session = new ConversationBuilder();
    session.user("Fix the lint errors and the tests of the cart");
    shell(session, "c", 'git commit -m "fix: cart"', "[main 1a2b3c4] fix: cart");
    session.assistant("No comments so far. Let me check the rest.");
    session.tool("e", "Edit", EDIT, "ok");
    say(session, "my account is tim");
    session.assistant("Got it.");
    session.tool("f", "Edit", { ...EDIT, file_path: "/shop/src/menu.ts" }, "ok");
    session.assistant("Fixed the lint errors and the tests.");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain('tests of the cart" → still under way at the next message\n');
    expect(requests).toMatch(
      /"my account is tim".* → for the last 2 requests: Fixed the lint errors and the tests\. \[commit 1a2b3c4; edited cart\.ts, menu\.ts\]/,
    );
  });

  it("says that a request is under way until the subagent that works on it has reported", () => {
    const session = new ConversationBuilder();
    session.user("Collapse short segments, use a subagent");
    const launched = "Async agent launched successfully.\nagentId: a1b2c3";
    session.tool("t", "Task", { description: "Collapse" }, launched);
    session.assistant("Agent launched with the pinned decision.");
    session.user("Rework my configuration to use the new palette");
    session.tool("e", "Edit", EDIT, "ok");
    session.assistant("The palette is in place, the agent still runs.");
    session.user("Write the release notes for the shop");
    session.user(
      "<task-notification>\n<task-id>a1b2c3</task-id>\n<status>completed</status>\n</task-notification>",
    );
    shell(session, "c", 'git commit -m "feat: collapse"', "[main 1a2b3c4] feat: collapse");
    session.assistant("The collapse is committed and the notes are written.");
    session.user("Now publish the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain('use a subagent" → still under way at the next message\n');
    expect(requests).toContain('new palette" → still under way at the next message\n');
    expect(requests).toContain(
      'for the shop" → for the last 3 requests: The collapse is committed and the notes are written. [commit 1a2b3c4;',
    );
    expect(requests).not.toContain("Agent launched");
  });

  it("quotes a report after a commit although the assistant had begun further work after it", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    session.tool("e", "Edit", EDIT, "ok");
    shell(session, "c", 'git commit -m "feat: discount"', "[main 1a2b3c4] feat: discount");
    session.assistant("The discount is added and committed.\n\nYou can try it now.");
    session.assistant("The page shows an object. Let me look at the template:");
    session.tool("f", "Edit", { ...EDIT, file_path: "/shop/src/page.ts" }, "ok");
    session.user("The page of a single apple is the problem");
    session.tool("g", "Edit", { ...EDIT, file_path: "/shop/src/apple.ts" }, "ok");
    session.assistant("The page of the apple is fixed.");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain(
      'to the cart" → The discount is added and committed. (further work was under way at the next message)',
    );
    expect(requests).toMatch(/is the problem".* → The page of the apple is fixed\./);
  });

  it("says that a report with the proofs of several requests is about all of them, also before further work", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    shell(session, "c", 'git commit -m "feat: discount"', "[main 1a2b3c4] feat: discount");
    session.user("Round the discount of the cart up");
    shell(session, "d", 'git commit -m "fix: rounding"', "[main 2b3c4d5] fix: rounding");
    session.assistant("The rounding is added and committed.\n\nYou can try it now.");
    session.assistant("The page shows an object. Let me look at the template:");
    session.tool("f", "Edit", EDIT, "ok");
    session.user("The page of a single apple is the problem");
    session.assistant("The page of the apple is fixed.");
    session.user("Write the release notes for the shop");
    expect(sectionOf(summaryOf(session), "Primary Request and Intent")).toContain(
      'cart up" → for the last 2 requests: The rounding is added and committed. (further work was under way at the next message) [commit 1a2b3c4; commit 2b3c4d5;',
    );
  });

  it("quotes no report after a commit that announces the next part of the work", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    shell(session, "c", 'git commit -m "feat: discount"', "[main 1a2b3c4] feat: discount");
    session.assistant("The first part is committed. Now let me change the page.");
    session.tool("e", "Edit", EDIT, "ok");
    session.user("Write the release notes for the shop");
    expect(sectionOf(summaryOf(session), "Primary Request and Intent")).toContain(
      'to the cart" → The first part is committed. (still under way at the next message)',
    );
  });

  it("gives the first of two messages in a row the answer that follows the second", () => {
    const session = new ConversationBuilder();
    session.user("Here is the picture of the cart");
    session.user("What does it show?");
    session.assistant("It shows a cart with two apples.");
    session.user("Write the release notes for the shop");
    const requests = sectionOf(summaryOf(session), "Primary Request and Intent");
    expect(requests).toContain('picture of the cart" → no answer before the next message');
    expect(requests).toContain('it show?" → for the last 2 requests: It shows a cart with two apples.');
  });

  it.each([
    ["It still doesn't work, the cart is empty.", " (the user objected or reported a fault next)"],
    ["[image]\nThere is a bug at the top of the cart.", " (the user objected or reported a fault next)"],
    ["all of the prices now look the same", " (the user objected or reported a fault next)"],
    ["the labels are still wrong.", " (the user objected or reported a fault next)"],
    ["Make all buttons the same size.", ""],
    ["Are they all the same?", ""],
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
  it("calls a request that is a command line done when the command has run to its end", () => {
    const session = new ConversationBuilder();
    session.user("python3 shop/report.py");
    session.assistant([toolUse("r", "Bash", { command: "python3 shop/report.py" })]);
    expect(sectionOf(summaryOf(session), "Pending Tasks")).toContain("In progress");
    session.user([toolResult("r", "12 carts")]);
    session.tool("e", "Edit", EDIT, "ok");
    const first = summaryOf(session);
    const next = after(first);
    next.tool("f", "Edit", EDIT, "ok");
    for (const text of [first, summaryOf(next)]) {
      expect(sectionOf(text, "Pending Tasks")).not.toContain("the user's latest request");
      expect(sectionOf(text, "Optional Next Step")).toMatch(
        /Continue with the work (?:after it|described above),/,
      );
    }
  });

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
