import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { splitSections } from "../summary-message.ts";
import { summarize } from "./summarize.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);

const EDIT = { file_path: "/shop/src/cart.ts", old_string: "a", new_string: "b" };

function sectionOf(session: ConversationBuilder, name: string): string {
  const { text } = summarize(session.entries, { countTokens });
  return splitSections(text).find((section) => section.name === name)?.body ?? "";
}

const requestsOf = (session: ConversationBuilder): string => sectionOf(session, "Primary Request and Intent");

/** Starts a subagent in the background. */
function launch(session: ConversationBuilder, id: string): void {
  const launched = `Async agent launched successfully.\nagentId: ${id}`;
  session.tool(`call-${id}`, "Agent", { description: `Work ${id}` }, launched);
}

const finish = (session: ConversationBuilder, id: string): void =>
  void session.user(
    `<task-notification>\n<task-id>${id}</task-id>\n<status>completed</status>\n</task-notification>`,
  );

function commit(session: ConversationBuilder, id: string): void {
  session.assistant([toolUse(id, "Bash", { command: 'git commit -m "feat: work"' })]);
  session.user([toolResult(id, `[main ${id}] feat: work`)]);
}

describe("requests that subagents and background tasks work on", () => {
  it("counts no task that the user started in a separate session as work on a request", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount to the cart");
    session.tool("e", "Edit", EDIT, "ok");
    session.assistant("The cart has a discount now.");
    session.user(
      '<system-reminder>\nThe user started your suggested background task task_7c ("Lint the guide") in a separate local session.\n</system-reminder>\n\nWhich currencies does the discount support?',
    );
    session.assistant("The discount supports euros and dollars.");
    session.user("Write the release notes for the shop");
    session.assistant("The release notes are written.");
    finish(session, "task_7c");
    session.user("Now publish the shop");
    const requests = requestsOf(session);
    expect(requests).toContain('to the cart" → The cart has a discount now. [edited cart.ts]');
    expect(requests).toContain('support?" → The discount supports euros and dollars.');
    expect(requests).toContain('for the shop" → The release notes are written.');
    expect(requests).not.toContain("still under way");
  });

  it("lists a task that the user started in a separate session as open until it has reported", () => {
    const session = new ConversationBuilder();
    session.user(
      '<system-reminder>\nThe user started your suggested background task task_7c ("Lint the guide") in a separate local session.\n</system-reminder>\n\nWhich currencies does the discount support?',
    );
    session.assistant("The discount supports euros and dollars.");
    expect(sectionOf(session, "Pending Tasks")).toContain("Lint the guide (id task_7c)");
    finish(session, "task_7c");
    expect(sectionOf(session, "Pending Tasks")).not.toContain("Lint the guide");
  });

  it("gives a report that follows a subagent's notice to the request that launched the subagent", () => {
    const session = new ConversationBuilder();
    session.user("Collapse the short labels, use a subagent");
    launch(session, "a1b2c3");
    session.assistant("The agent is launched.");
    session.user("Rework my color palette, use a subagent too");
    launch(session, "d4e5f6");
    session.assistant("Both agents are running now.");
    finish(session, "a1b2c3");
    session.assistant("The labels are done. Review the change:");
    commit(session, "1a2b3c4");
    session.assistant("The short labels collapse now, committed in `1a2b3c4`.");
    finish(session, "d4e5f6");
    session.assistant("The palette uses the new colors.");
    session.user("There is a bug at the top of the page");
    const requests = requestsOf(session);
    expect(requests).toContain(
      'use a subagent" → The short labels collapse now, committed in `1a2b3c4`. [commit 1a2b3c4]',
    );
    expect(requests).toContain(
      'a subagent too" → The palette uses the new colors. (the user objected or reported a fault next)\n',
    );
    expect(requests).not.toMatch(/requests:|still under way/);
  });

  it("keeps a report in the current request when the notice came in the middle of its work", () => {
    const session = new ConversationBuilder();
    session.user("Collapse the short labels, use a subagent");
    launch(session, "a1b2c3");
    session.assistant("The agent is launched.");
    session.user("Rework my color palette");
    session.tool("e", "Edit", EDIT, "ok");
    finish(session, "a1b2c3");
    session.tool("f", "Edit", EDIT, "ok");
    session.assistant("The palette and the labels are done.");
    session.user("Now publish the shop");
    const requests = requestsOf(session);
    expect(requests).toContain('use a subagent" → still under way at the next message\n');
    expect(requests).toMatch(/palette".* → for the last 2 requests: The palette and the labels are done\./);
  });

  it("gives no report to a request whose other subagent still runs", () => {
    const session = new ConversationBuilder();
    session.user("Collapse the short labels, use two subagents");
    launch(session, "a1b2c3");
    launch(session, "d4e5f6");
    session.assistant("The agents are launched.");
    session.user("What does the palette look like?");
    session.assistant("The palette has three colors.");
    finish(session, "a1b2c3");
    session.assistant("The first half is done.");
    session.user("Now publish the shop");
    expect(requestsOf(session)).toContain('two subagents" → still under way at the next message');
  });

  it("keeps the own closing report of a request while a subagent of an older request runs", () => {
    const session = new ConversationBuilder();
    session.user("Collapse the short labels, use a subagent");
    launch(session, "a1b2c3");
    session.assistant("The agent is launched.");
    session.user("Add a discount to the cart");
    session.tool("e", "Edit", EDIT, "ok");
    session.assistant("The discount is added.");
    session.user("Write the release notes for the shop");
    session.tool("f", "Edit", { ...EDIT, file_path: "/shop/NOTES.md" }, "ok");
    finish(session, "a1b2c3");
    session.assistant("The notes are written and the labels collapse.");
    session.user("Now publish the shop");
    const requests = requestsOf(session);
    expect(requests).toMatch(/to the cart".* → The discount is added\. \[edited cart\.ts\]/);
    expect(requests).toContain('for the shop" → The notes are written and the labels collapse.');
    expect(requests).not.toContain("requests:");
  });
});
