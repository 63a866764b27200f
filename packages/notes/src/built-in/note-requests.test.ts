import { describe, expect, it } from "vitest";
import {
  bodyOf,
  noted,
  notedOn,
  notesTemplate,
  type Tell,
  withBody,
} from "../../../../test/support/noting.ts";
import { emptyNotes, NOTES_LIMITS } from "../notes-format.ts";

const TASK = "Task Specification";
const SMALL = { sectionTokens: 200, totalTokens: 2_000 };
const start = emptyNotes(notesTemplate);

describe("the Session Title section of built-in notes", () => {
  it("the first update sets the session title, from more than a greeting if possible, and no later update changes it", () => {
    const notes = noted(
      (session) => session.user("hi"),
      (session) => session.user("Something else entirely, later on"),
    );
    expect(bodyOf(notes, "Session Title")).toBe("hi");
    const longer = noted((session) => {
      session.user("hello");
      session.user("Migrate the billing service to the new queue. Start with the tests.");
    });
    expect(bodyOf(longer, "Session Title")).toBe("Migrate the billing service to the new queue");
  });

  it("adds the next line to a session title that ends with a colon, and removes heading marks from titles", () => {
    const plan = noted((session) => session.user("Implement the following plan:\n\n# Worklog\n\nDo it."));
    expect(bodyOf(plan, "Session Title")).toBe("Implement the following plan: Worklog");
    const heading = noted((session) => session.user("# Current State"));
    expect(bodyOf(heading, "Session Title")).toBe("Current State");
  });

  it("built-in notes keep a session title that a person wrote", () => {
    const before = withBody(emptyNotes(notesTemplate), "Session Title", "Billing, second try");
    const notes = notedOn(before, NOTES_LIMITS, (session) => session.user("Migrate the billing service"));
    expect(bodyOf(notes, "Session Title")).toBe("Billing, second try");
  });
});

describe("the Task Specification section of built-in notes", () => {
  it("built-in notes list the user's messages verbatim and in order, over several updates", () => {
    const notes = noted(
      (session) => {
        session.user("Write a parser for the configuration files of this project");
        session.assistant("Here is a first one.");
      },
      (session) => session.user("It must keep comments, and it must never reorder the keys of a table"),
    );
    expect(bodyOf(notes, TASK)).toBe(
      '- "Write a parser for the configuration files of this project"\n- "It must keep comments, and it must never reorder the keys of a table"',
    );
  });

  it("built-in notes keep the line breaks of a user's message, and indent a line that looks like a heading", () => {
    const message = "Take this over:\n# Current State\n\n```\n  code\n```\n- and this";
    const notes = noted((session) => session.user(message));
    expect(bodyOf(notes, TASK).replace(/^ {2}/gm, "")).toContain(message);
    expect(bodyOf(notes, TASK).split("\n")).not.toContain("# Current State");
    const again = notedOn(notes, NOTES_LIMITS, (session) => session.user("Go on with something else then"));
    expect(bodyOf(again, TASK)).toContain(bodyOf(notes, TASK));
  });

  it("built-in notes leave out reminders of the client and slash commands", () => {
    const notes = noted((session) => {
      session.user("<system-reminder>Do not forget</system-reminder>");
      session.user("<command-name>/clear</command-name>");
      session.user("<bash-input>ls</bash-input>");
      session.user("Fix the date of the report");
    });
    expect(bodyOf(notes, TASK)).toBe('- "Fix the date of the report"');
  });

  it("lists a repeated user message once, at the end, but the first request stays first even if it is repeated", () => {
    const say =
      (...texts: readonly string[]): Tell =>
      (session) => {
        for (const text of texts) session.user(text);
      };
    const [first, second, third] = [
      "The first request of the whole session, which is a little longer",
      "The second request of the whole session, which is a little longer",
      "The third request of the whole session, which is a little longer",
    ];
    const notes = noted(say(first, second, third), say(second), say(first));
    expect(bodyOf(notes, TASK)).toBe(`- "${first}"\n- "${third}"\n- "${second}"`);
  });

  it("says what a short message replies to, but only if the message directly follows the assistant's text", () => {
    const offer: Tell = (session) => session.assistant("The parser is done. I can write the tests too.");
    const yes: Tell = (session) => session.user("yes");
    const reply = '- "yes" (in reply to: "The parser is done. I can write the tests too.")';
    expect(bodyOf(noted(offer, yes), TASK)).toBe(reply);
    const later = noted(offer, (session) => session.user("wait"), yes);
    expect(bodyOf(later, TASK).split("\n").slice(1)).toEqual(['- "yes"']);
  });

  it("built-in notes list the user's answers to questions, and the text with which the user refused a tool call", () => {
    const notes = noted((session) => {
      session.user("Set the project up for me, as usual, with a database and a queue");
      const questions = [{ question: "Which database?", options: [] }];
      session.tool("q", "AskUserQuestion", { questions }, 'User has answered: "Which database?"="SQLite".');
      session.assistant([{ type: "tool_use", id: "b", name: "Bash", input: { command: "rm -r data" } }]);
      const refused =
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nnever delete the folder with the data";
      session.user([{ type: "tool_result", tool_use_id: "b", content: refused, is_error: true }]);
    });
    expect(bodyOf(notes, TASK).split("\n").slice(1)).toEqual([
      '- Asked: "Which database?" → "SQLite"',
      '- "never delete the folder with the data"',
    ]);
  });

  it("built-in notes keep only the assistant's newest plan, and say whether the user approved it", () => {
    const plan = (text: string): Tell => {
      return (session) => session.tool(text, "ExitPlanMode", { plan: text }, "User has approved your plan");
    };
    const notes = noted(plan("# Old plan\n1. one"), plan("# New plan\n1. two"));
    expect(bodyOf(notes, TASK)).toBe(
      "- Plan of the assistant (approved by the user):\n  # New plan\n  1. two",
    );
  });

  it("when not all requests fit into the notes, keeps the first and the newest requests, and counts the others", () => {
    const requests = (from: number, to: number): Tell => {
      return (session) => {
        for (let at = from; at < to; at++)
          session.user(`request number ${at}, ${"which says more ".repeat(4)}`);
      };
    };
    const once = bodyOf(notedOn(start, SMALL, requests(0, 20)), TASK);
    expect(once).toMatch(/^\(\d+ older items left out: see the transcript\)\n- "request number 0,/);
    expect(once).toContain("request number 19,");
    const left = (body: string): number => Number(/\((\d+) older/.exec(body)?.[1] ?? 0);
    const kept = (body: string): number => body.split("\n- ").length - 1;
    expect(left(once) + kept(once)).toBe(20);
    const twice = bodyOf(notedOn(start, SMALL, requests(0, 10), requests(10, 20)), TASK);
    expect(twice).toBe(once);
  });

  it("built-in notes shorten a long user message and mark the cut", () => {
    const long = `Begin. ${"Much of this is a log that somebody pasted. ".repeat(60)}End with the question.`;
    const whole = bodyOf(
      noted((session) => session.user(long)),
      TASK,
    );
    expect(whole).toMatch(/^- "Begin\. .*\[… \d+ characters left out: see the transcript …\].*question\."$/s);
    const small = bodyOf(
      notedOn(start, SMALL, (session) => session.user(long)),
      TASK,
    );
    expect(small.length).toBeLessThan(600);
    expect(small).toMatch(/^- "Begin\. .*…"$/);
  });

  it("recognizes a repeated user message even if the notes contain the message only in shortened form", () => {
    const long = `Begin. ${"Much of this is a log that somebody pasted. ".repeat(30)}End with the question.`;
    const whole = noted(
      (session) => session.user("first of all"),
      (session) => session.user(long),
    );
    const small = notedOn(whole, SMALL, (session) => session.user("and now something else"));
    expect(bodyOf(small, TASK)).toMatch(/^- "first of all"\n- "Begin\. .*…"\n- "and now something else"$/);
    const again = notedOn(small, NOTES_LIMITS, (session) => session.user(long));
    expect(bodyOf(again, TASK)).toBe(`- "first of all"\n- "and now something else"\n- "${long}"`);
    const cut = noted(
      (session) => session.user("first of all"),
      (session) => session.user(long.repeat(3)),
    );
    expect(
      bodyOf(
        notedOn(cut, NOTES_LIMITS, (session) => session.user(long.repeat(3))),
        TASK,
      ),
    ).toBe(bodyOf(cut, TASK));
  });

  it("drops no text of a person or a model from the task specification before an older built-in item", () => {
    const prose = "The customer is a bank, so every change needs an entry in the audit log.";
    const requests = (from: number, to: number): Tell => {
      return (session) => {
        for (let at = from; at < to; at++)
          session.user(`request number ${at}, ${"which says more ".repeat(4)}`);
      };
    };
    let notes = notedOn(start, SMALL, requests(0, 3));
    notes = withBody(notes, TASK, `${bodyOf(notes, TASK)}\n\n${prose}`);
    for (let round = 0; round < 12; round++) {
      const before = bodyOf(notes, TASK);
      notes = notedOn(notes, SMALL, requests(10 + round, 11 + round));
      const body = bodyOf(notes, TASK);
      const hasOlder = ["number 1,", "number 2,"].some((name) => body.includes(name));
      if (before.includes(prose) && hasOlder) expect(body).toContain(prose);
    }
    expect(bodyOf(notes, TASK)).toContain("request number 0,");
    expect(bodyOf(notes, TASK)).toContain("request number 21,");
  });
});
