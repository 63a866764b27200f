import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import type { Entry } from "../../../messages/entry.ts";
import { digestSession } from "./digest.ts";
import { remainingWork } from "./open-items.ts";

const ITEMS = [
  "Add the search field to the header",
  "Create src/menu.ts",
  "Run the tests",
  "Commit the change",
];

/** Starts a session whose to-do list has four open items, the first in progress. */
function listed(): ConversationBuilder {
  const session = new ConversationBuilder();
  session.user("Build the header");
  const todos = ITEMS.map((content, nth) => ({ content, status: nth === 0 ? "in_progress" : "pending" }));
  session.tool("list", "TodoWrite", { todos }, "ok");
  return session;
}

const openIn = (session: ConversationBuilder): readonly string[] =>
  digestSession(session.entries as readonly Entry[])
    .todos.filter(({ status }) => status !== "completed")
    .map(({ content }) => content);

describe("open items of a to-do list", () => {
  it("stay open without later work", () => {
    expect(openIn(listed())).toEqual(ITEMS);
  });

  it.each([
    "The search field is now in the header: I added it.",
    "Done: search field in the header",
    "Completed:\n- search field of the header\n- colors",
    "✅ Added the search field to the header.",
    "- [x] Add the search field to the header",
  ])("are done when the assistant reports them as done: %s", (report) => {
    const session = listed();
    session.assistant(report);
    expect(openIn(session)).toEqual(ITEMS.slice(1));
  });

  it.each([
    "The search field is not yet added to the header.",
    "Next I will add the search field to the header.",
    "If the search field was added to the header, reload.",
    "Once the search field is added to the header, I will run the tests.",
  ])("stay open when the assistant only speaks about them: %s", (text) => {
    const session = listed();
    session.assistant(text);
    expect(openIn(session)).toEqual(ITEMS);
  });

  it.each([
    "All tasks are done.",
    "All 4 items have been completed.",
    "Everything is implemented.",
    "All 4 subtasks closed.",
  ])("are all done when the assistant says so: %s", (text) => {
    const session = listed();
    session.assistant(text);
    expect(openIn(session)).toEqual([]);
  });

  it("are done when the work that they name was done", () => {
    const session = listed();
    session.tool("t1", "Write", { file_path: "/project/src/menu.ts", content: "x" }, "ok");
    session.tool("t2", "Bash", { command: "npm test" }, "Tests  12 passed (12)");
    session.tool("t3", "Bash", { command: "git commit -m 'feat: menu'" }, "[main 1a2b3c4] feat: menu");
    expect(openIn(session)).toEqual(ITEMS.slice(0, 1));
  });

  it.each([
    ["shop-7.2: add the labels", "bd close shop-7.2 --reason done", true],
    ["Work on issue #12", "gh issue close 12", true],
    ["**shop-7.2** (in progress)", "cd web && bd close 'shop-7.2' 2>&1", true],
    ["shop-7: add the labels", "bd close shop-7.2", false],
    ["shop-7.2: add the labels", "bd close shop-7", false],
    ["Write the guide that follows shop-7.2", "bd close shop-7.2", false],
    ["Add 12 labels", "gh issue close 12", false],
  ])(
    "are done when a command closes the issue that they are, not one that they mention: %s",
    (item, command, isDone) => {
      const session = new ConversationBuilder();
      session.user("Work on the issues");
      session.tool("list", "TodoWrite", { todos: [{ content: item, status: "pending" }] }, "ok");
      session.tool("close", "Bash", { command }, "Closed");
      expect(openIn(session)).toEqual(isDone ? [] : [item]);
    },
  );

  it("stay open when the command that closes their issue failed", () => {
    const session = new ConversationBuilder();
    session.user("Work on the issues");
    session.tool("list", "TodoWrite", { todos: [{ content: "shop-7.2: labels", status: "pending" }] }, "ok");
    session.assistant([toolUse("close", "Bash", { command: "bd close shop-7.2" })]);
    session.user([toolResult("close", "Exit code 1\nno such issue", true)]);
    expect(openIn(session)).toEqual(["shop-7.2: labels"]);
  });

  it("stay open when the command that they name failed", () => {
    const session = listed();
    session.assistant([toolUse("t2", "Bash", { command: "npm test" })]);
    session.user([toolResult("t2", "Exit code 1\nTests  2 failed", true)]);
    expect(openIn(session)).toContain("Run the tests");
  });

  it("are closed by the user's words", () => {
    const session = listed();
    session.user("Forget the search field");
    expect(openIn(session)).toEqual(ITEMS.slice(1));
    session.user("skip the commit");
    expect(openIn(session)).toEqual(ITEMS.slice(1, 3));
  });

  it("are open again when the agent lists them after the report", () => {
    const session = listed();
    session.assistant("All tasks are done.");
    session.tool("again", "TodoWrite", { todos: [{ content: "Run the tests", status: "pending" }] }, "ok");
    expect(openIn(session)).toEqual(["Run the tests"]);
  });

  it("follow the tools that change single tasks", () => {
    const session = new ConversationBuilder();
    session.tool("a", "TaskCreate", { subject: "Add the search field" }, "Task #1 created");
    session.tool("b", "TaskCreate", { subject: "Translate the labels" }, "Task #2 created");
    session.tool("c", "TaskUpdate", { taskId: "1", status: "completed" }, "ok");
    expect(openIn(session)).toEqual(["Translate the labels"]);
    session.assistant(
      "The labels are now translated, so I have updated the labels: translation is complete.",
    );
    session.tool("d", "TaskUpdate", { taskId: "2", status: "deleted" }, "ok");
    expect(openIn(session)).toEqual([]);
  });
});

describe("remaining work without a to-do list", () => {
  const remaining = (...texts: readonly string[]): readonly string[] => {
    const session = new ConversationBuilder();
    session.user("Build the header");
    texts.forEach((text, nth) => {
      session.assistant(text);
      if (nth < texts.length - 1)
        session.tool(
          `t${nth}`,
          "Edit",
          { file_path: `/p/${nth}.ts`, old_string: "a", new_string: "b" },
          "ok",
        );
    });
    return remainingWork(digestSession(session.entries as readonly Entry[]).exchanges);
  };

  it("is read from a list that the assistant calls remaining", () => {
    expect(
      remaining("The header is there.\n\nRemaining:\n- translate the labels\n- update the guide"),
    ).toEqual(["translate the labels", "update the guide"]);
  });

  it.each([
    ["The header is there. Next, I will translate the labels.", "translate the labels"],
    ["The header is there. Still to do: translate the labels.", "translate the labels"],
    ["The header is there. Remaining work: translate the labels.", "translate the labels"],
  ])("is read from the assistant's last sentence: %s", (text, work) => {
    expect(remaining(text)).toEqual([work]);
  });

  it("leaves out announced work that followed", () => {
    expect(remaining("I'll translate the labels.", "The labels are there.")).toEqual([]);
  });

  it("consists of the numbered steps that no later work followed", () => {
    const plan = "My plan:\n1. Draw the search field\n2. Translate the labels\n3. Publish the guide";
    expect(remaining(plan)).toEqual(["Draw the search field", "Translate the labels", "Publish the guide"]);
    expect(remaining(plan, "Now I draw the search field.", "The labels need a translation now.")).toEqual([
      "Publish the guide",
    ]);
    expect(remaining(plan, "Something else first.", "It works.")).toEqual([]);
  });

  it("is empty when the assistant suggests work to the user, or reports that all is done", () => {
    expect(remaining("All tasks are done.\n\nNext steps:\n- deploy it")).toEqual([]);
    expect(remaining("It works.\n\nOptional next steps you could consider:\n- deploy it")).toEqual([]);
  });
});

describe("lists that are no remaining work", () => {
  const remainingIn = (text: string): readonly string[] => {
    const session = new ConversationBuilder();
    session.user("Build the menu");
    session.assistant(text);
    return remainingWork(digestSession(session.entries as readonly Entry[]).exchanges);
  };

  it.each([
    "**✅ Step-by-step resolution:**\n1. Found the loop\n2. Fixed the loop\n3. Pushed the fix",
    "Steps:\n1. Found the loop\n2. Fixed the loop",
    "I had a look at the steps:\n1. The loop\n2. The timer",
    "I set `remaining` as follows:\n- the header is blue",
    "The problem was that I changed the plan-view to a table, but:\n1. The client expects a list\n2. The route returned a table",
    "Each color is `mix(parent, <next color>)`. Confirmed properties:\n- The chain never breaks\n- Overrides restart it",
    "I'll group the comments by severity:\n1. The cart can be empty\n2. The total is read twice",
    "Still open:\n- `onMissing` stays at `warn`. The warning is harmless.\n- none",
  ])("names no item for a list of facts or of finished steps: %s", (text) => {
    expect(remainingIn(text)).toEqual([]);
  });

  it.each([
    ["Next steps:\n1. Rebase the branch\n2. Push it", ["Rebase the branch", "Push it"]],
    ["I'll build it in this order:\n1. The header\n2. The footer", ["The header", "The footer"]],
    ["The menu is there.\n\n**Remaining:**\n- translate the labels", ["translate the labels"]],
  ])("names the items of a list that announces work: %s", (text, items) => {
    expect(remainingIn(text)).toEqual(items);
  });

  it("names no item of a list when the agent worked on and nobody knows how far it got", () => {
    const session = new ConversationBuilder();
    session.user("Fix the cart");
    session.assistant("The remaining issues are:\n1. The total is read twice\n2. The cart can be empty");
    const edit = { file_path: "/project/cart.ts", old_string: "a", new_string: "b" };
    session.tool("e", "Edit", edit, "ok");
    expect(remainingWork(digestSession(session.entries as readonly Entry[]).exchanges)).toEqual([]);
  });
});

describe("to-do lists that nobody updates", () => {
  it("close an item when the agent announced it, changed a file and announced the next item", () => {
    const session = listed();
    const edit = { file_path: "/project/src/header.ts", old_string: "a", new_string: "b" };
    session.assistant("Now the search field in the header:");
    session.tool("e1", "Edit", edit, "ok");
    session.assistant("The field needs a label too.");
    expect(openIn(session)).toEqual(ITEMS);
    session.assistant("Now create src/menu.ts:");
    expect(openIn(session)).toEqual(ITEMS.slice(1));
  });
});

describe("items that the agent reported as done", () => {
  const later = fc.constantFrom(
    "Now let me look at the footer.",
    "The search field in the header looks good.",
    "Remaining: draw the footer.",
    "Shall I go on with the footer?",
    "All tests pass.",
  );

  it("never return as open, whatever the agent and the user say later", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(later, fc.boolean()), { maxLength: 12 }), (turns) => {
        const session = listed();
        session.assistant("The search field is now in the header: I added it.");
        for (const [text, asks] of turns) {
          if (asks) session.user("continue");
          session.assistant(text);
        }
        expect(openIn(session)).not.toContain(ITEMS[0]);
        const { exchanges } = digestSession(session.entries as readonly Entry[]);
        expect(remainingWork(exchanges).join("\n")).not.toMatch(/search field/);
      }),
    );
  });
});
