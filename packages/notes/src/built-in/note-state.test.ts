import { describe, expect, it } from "vitest";
import {
  bodyOf,
  linesOf,
  noted,
  notedOn,
  notesTemplate,
  type Tell,
} from "../../../../test/support/noting.ts";
import { emptyNotes } from "../notes-format.ts";

const STATE = "Current State";
const edit = (file_path: string): object => ({ file_path, old_string: "a", new_string: "b" });

describe("the Current State section of built-in notes", () => {
  it("the current state names the latest request and its changed files, and says that the request appears done", () => {
    const notes = noted((session) => {
      session.user("Add a retry to the fetcher");
      session.tool("e", "Edit", edit("/project/src/fetch.ts"), "ok");
      session.assistant("The retry is in place and all tests pass.");
    });
    expect(linesOf(notes, STATE)).toEqual([
      '- Latest request: "Add a retry to the fetcher"',
      "- Status: appears done, no open request",
      '- Last text of the assistant: "The retry is in place and all tests pass."',
      "- Changed for this request so far: `src/fetch.ts`",
      "- Worked on last: `src/fetch.ts` (changed)",
    ]);
  });

  it("the current state keeps the latest request over many updates, with all files changed for it", () => {
    const notes = noted(
      (session) => {
        session.user("Rename the module everywhere");
        session.assistant("I start with the parser.");
        session.tool("a", "Edit", edit("/project/a.ts"), "ok");
      },
      (session) => session.tool("b", "Edit", edit("/project/b.ts"), "ok"),
      (session) => session.tool("r", "Read", { file_path: "/project/c.ts" }, "text"),
      (session) => session.tool("l", "Bash", { command: "ls" }, "text"),
    );
    expect(linesOf(notes, STATE)).toEqual([
      '- Latest request: "Rename the module everywhere"',
      '- Status: work in progress. The assistant last said: "I start with the parser."',
      "- Changed for this request so far: `a.ts`, `b.ts`",
      "- Worked on last: `c.ts` (read)",
      "- Last commands: `ls`",
    ]);
  });

  it('the current state keeps the status "work in progress" in the wording of an earlier version', () => {
    const before = noted((session) => {
      session.user("Rename the module everywhere");
      session.assistant("I start with the parser.");
      session.tool("a", "Edit", edit("/project/a.ts"), "ok");
    });
    const former = 'in the middle of it; the assistant had last said: "I start with the parser."';
    const sections = before.sections.map((section) => ({
      ...section,
      body: section.body.replace(/work in progress\. The assistant last said: "[^"]*"/, former),
    }));
    const after = notedOn({ ...before, sections }, { sectionTokens: 2_000, totalTokens: 12_000 }, (session) =>
      session.tool("l", "Bash", { command: "ls" }, "text"),
    );
    expect(linesOf(after, STATE)).toContain(`- Status: ${former}`);
  });

  it("the current state keeps the files that notes of an earlier version list as changed", () => {
    const before = noted((session) => {
      session.user("Rename the module everywhere");
      session.tool("a", "Edit", edit("/project/a.ts"), "ok");
    });
    const sections = before.sections.map((section) => ({
      ...section,
      body: section.body.replace("Changed for this request so far", "Changed for it so far"),
    }));
    const after = notedOn({ ...before, sections }, { sectionTokens: 2_000, totalTokens: 12_000 }, (session) =>
      session.tool("b", "Edit", edit("/project/b.ts"), "ok"),
    );
    expect(linesOf(after, STATE)).toContain("- Changed for this request so far: `a.ts`, `b.ts`");
    expect(bodyOf(after, STATE)).not.toContain("Changed for it so far");
  });

  it("counts left-out to-do items from zero in each update instead of adding up the counts of all updates", () => {
    const limits = { sectionTokens: 120, totalTokens: 1_200 };
    const todos = Array.from({ length: 20 }, (_, at) => ({
      content: `part number ${at}`,
      status: "pending",
    }));
    const list: Tell = (session) => session.tool("w", "TodoWrite", { todos }, "ok");
    const once = notedOn(emptyNotes(notesTemplate), limits, list);
    const [remark] = linesOf(once, STATE);
    expect(remark).toMatch(/^\(\d+ older items left out/);
    expect(linesOf(once, STATE)[2]).toBe("- [ ] part number 0");
    expect(linesOf(notedOn(once, limits, list), STATE)[0]).toBe(remark);
  });

  it("the current state switches to a new request as soon as the user sends one", () => {
    const notes = noted(
      (session) => {
        session.user("Rename the module everywhere");
        session.tool("a", "Edit", edit("/project/a.ts"), "ok");
        session.assistant("Everything has its new name.");
      },
      (session) => session.user("Now write the documentation for it, please"),
    );
    expect(bodyOf(notes, STATE)).toContain('- Latest request: "Now write the documentation');
    expect(bodyOf(notes, STATE)).toContain("- Status: nothing has been done about it yet");
    expect(bodyOf(notes, STATE)).not.toContain("Changed for this request");
    expect(bodyOf(notes, STATE)).not.toContain("Rename the module");
  });

  it("quotes what the assistant said before the latest request only until work on that request begins", () => {
    const asked: Tell = (session) => {
      session.assistant("There are two ways to do this.");
      session.user("Take the second one, but without the cache, and write tests for it");
    };
    expect(bodyOf(noted(asked), STATE)).toContain('- Last text of the assistant: "There are two ways');
    const begun = noted((session) => {
      asked(session);
      session.tool("e", "Edit", edit("/project/a.ts"), "ok");
    });
    expect(bodyOf(begun, STATE)).not.toContain("There are two ways");
  });

  it("the current state says what a short user message replies to, and which earlier request the message continues", () => {
    const notes = noted(
      (session) => {
        session.user("Look for unused exports in the whole project, please, and list every one of them");
        session.assistant("There are four of them. Shall I remove them?");
      },
      (session) => session.user("yes"),
    );
    expect(linesOf(notes, STATE).slice(0, 2)).toEqual([
      '- Latest request: "yes" (in reply to: "Shall I remove them?")',
      '- Continues this earlier request: "Look for unused exports in the whole project, please, and list every one of them"',
    ]);
  });

  it("the current state quotes the assistant's open question, or the next step that the assistant announced", () => {
    const asked = noted((session) => {
      session.user("Plan the migration");
      session.assistant("There are two ways to do it. Which one do you prefer?");
    });
    expect(bodyOf(asked, STATE)).toContain(
      '- Status: answered, and the user was asked: "Which one do you prefer?"',
    );
    const named = noted((session) => {
      session.user("Plan the migration");
      session.assistant("The schema is done. Next I will move the data. It is late now.");
    });
    expect(bodyOf(named, STATE)).toContain(
      '- Next step that the assistant named: "Next I will move the data."',
    );
  });

  it("the current state says that the session waits for an answer to AskUserQuestion", () => {
    const notes = noted((session) => {
      session.user("Set the project up");
      const questions = [{ question: "Which database?", options: [] }];
      session.tool("q", "AskUserQuestion", { questions });
    });
    expect(bodyOf(notes, STATE)).toContain('- Status: waiting for the user\'s answer to: "Which database?"');
  });

  it("the current state shows the newest to-do list, and keeps it through updates without a to-do list", () => {
    const todos = (first: string, second: string): object => ({
      todos: [
        { content: "write the code", status: first },
        { content: "write the tests", status: second },
      ],
    });
    const begun: Tell = (session) => {
      session.user("Build it");
      session.tool("w", "TodoWrite", todos("in_progress", "pending"), "ok");
    };
    const silent = noted(begun, (session) => session.assistant("Half of the code is there."));
    expect(bodyOf(silent, STATE)).toContain("- [in progress] write the code\n- [ ] write the tests");
    const later = noted(begun, (session) =>
      session.tool("w2", "TodoWrite", todos("completed", "in_progress"), "ok"),
    );
    expect(bodyOf(later, STATE)).toContain("- [in progress] write the tests");
    expect(bodyOf(later, STATE)).not.toContain("write the code");
    const emptied = noted(begun, (session) => session.tool("w2", "TodoWrite", { todos: [] }, "ok"));
    expect(bodyOf(emptied, STATE)).not.toContain("write the");
  });

  it("the current state updates tasks by their ids from one notes update to the next", () => {
    const notes = noted(
      (session) => {
        session.user("Build it");
        session.tool("c1", "TaskCreate", { subject: "write the code" }, "Task #1 created");
        session.tool("c2", "TaskCreate", { subject: "write the tests" }, "Task #2 created");
      },
      (session) => session.tool("u1", "TaskUpdate", { taskId: "1", status: "completed" }, "ok"),
      (session) => session.tool("u2", "TaskUpdate", { taskId: "2", status: "in_progress" }, "ok"),
    );
    expect(bodyOf(notes, STATE)).toContain("- [in progress] write the tests (task 2)");
    expect(bodyOf(notes, STATE)).not.toContain("write the code");
  });

  it("the current state names a background agent until the agent has reported back", () => {
    const launched: Tell = (session) => {
      session.user("Look into it");
      session.tool("a", "Agent", { description: "Search the logs" }, "Async agent launched\nagentId: a1b2");
      session.assistant("I wait for the agent now.");
    };
    expect(bodyOf(noted(launched), STATE)).toContain(
      "- Background agent has not reported back: Search the logs (id a1b2)",
    );
    const reported = noted(launched, (session) => {
      session.user(
        "<task-notification><task-id>a1b2</task-id><status>completed</status><summary>Search the logs</summary><result>The disk was full on Monday night.</result></task-notification>",
      );
      session.assistant("The disk was full.");
    });
    expect(bodyOf(reported, STATE)).not.toContain("Background agent");
    expect(bodyOf(reported, "Key Results")).toContain(
      '- Report of "Search the logs": The disk was full on Monday night.',
    );
  });

  it("the current state stays the same when new entries say nothing about it", () => {
    const before = noted((session) => {
      session.user("Build it");
      session.assistant("It is built.");
    });
    const after = noted(
      (session) => {
        session.user("Build it");
        session.assistant("It is built.");
      },
      (session) => session.attachment({ type: "edited_text_file", filename: "/project/x.ts" }),
    );
    expect(bodyOf(after, STATE)).toBe(bodyOf(before, STATE));
    expect(bodyOf(after, "Files and Functions")).toContain("`x.ts`");
  });
});
