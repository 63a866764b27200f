import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary-budget.ts";
import { continuationMessage, SECTION_NAMES, splitSections } from "../summary-message.ts";
import { summarize } from "./summarize.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);
const sectionOf = (text: string, name: string): string =>
  splitSections(text).find((section) => section.name === name)?.body ?? "";

function firstSummary(): string {
  const session = new ConversationBuilder();
  session.user("Add a retry to the fetcher and test it");
  const todos = [{ content: "document the retry", status: "in_progress" }];
  session.tool("w", "TodoWrite", { todos }, "ok");
  session.tool("e", "Edit", { file_path: "/project/f0.ts", old_string: "a", new_string: "b" }, "ok");
  session.assistant("The retry is in place. Next is the documentation.");
  return summarize(session.entries, { countTokens }).text;
}

const compacted = (text: string, build: (session: ConversationBuilder) => void): string => {
  const session = new ConversationBuilder();
  session.boundary();
  session.summary(
    continuationMessage({ summary: text, transcriptPath: "/t.jsonl", keptRecent: false, trigger: "auto" }),
  );
  build(session);
  return summarize(session.entries, { countTokens }).text;
};

describe("summaries of summaries", () => {
  it("keeps every user message once over ten compactions and stays within the budget", () => {
    let text = firstSummary();
    for (let round = 1; round <= 10; round++) {
      text = compacted(text, (session) => {
        session.user(`request of round ${round}`);
        session.user(`a longer one in round ${round}\nover two lines`);
        session.tool(
          `e${round}`,
          "Edit",
          { file_path: `/project/f${round}.ts`, old_string: "a", new_string: "b" },
          "ok",
        );
        session.assistant(`Round ${round} is done. ${"It took some work. ".repeat(30)}`);
      });
      expect(countTokens(text)).toBeLessThanOrEqual(SUMMARY_BUDGET_TOKENS);
      expect(splitSections(text).map((section) => section.name)).toEqual(SECTION_NAMES);
    }
    const messages = sectionOf(text, "All User Messages");
    expect(messages).toContain("Add a retry to the fetcher and test it");
    for (let round = 1; round <= 10; round++) {
      expect(messages.split(`"request of round ${round}"`)).toHaveLength(2);
      expect(messages.split(`a longer one in round ${round}\nover two lines`)).toHaveLength(2);
      expect(sectionOf(text, "Files and Code Sections")).toContain(`f${round}.ts`);
    }
  });

  it("lists a user message once when the earlier summary contains it too", () => {
    const text = compacted(firstSummary(), (session) =>
      session.user("Add a retry to the fetcher and test it"),
    );
    expect(sectionOf(text, "All User Messages").split("Add a retry to the fetcher")).toHaveLength(2);
  });

  it.each(["For this summary was asked", "Instructions for this summary"])(
    "does not carry over the instructions of an earlier summary with the label '%s'",
    (label) => {
      const earlier = `## 1. Primary Request and Intent\n**Setting:**\n- ${label}: "Keep every port number."`;
      expect(compacted(earlier, (session) => session.user("add a test"))).not.toContain("port number");
    },
  );

  it("a summary does not grow over compactions in which nothing new happens", () => {
    const once = compacted(firstSummary(), (session) => session.user("go on"));
    let text = once;
    for (let round = 0; round < 10; round++) text = compacted(text, () => {});
    expect(text.length).toBeLessThanOrEqual(once.length * 1.1);
  });

  it("quotes a long request in full again when it is no longer the current request", () => {
    const request = `Rewrite the importer.\n${"It must keep every row. ".repeat(40)}`.trim();
    const session = new ConversationBuilder();
    session.user(request);
    const text = compacted(summarize(session.entries, { countTokens }).text, (next) =>
      next.user("also log it"),
    );
    expect(sectionOf(text, "All User Messages")).toContain(request);
  });

  it("keeps a long current request in full over many compactions without user messages", () => {
    const request = `Rewrite the importer.\n${"It must keep every row. ".repeat(40)}`.trim();
    const session = new ConversationBuilder();
    session.user(request);
    let text = summarize(session.entries, { countTokens }).text;
    for (let round = 0; round < 5; round++)
      text = compacted(text, (next) => next.assistant("Working on it."));
    expect(sectionOf(text, "Primary Request and Intent")).toContain(request);
    expect(text.split(request)).toHaveLength(2);
  });

  it("reports the outcome of the request that was current in the earlier summary", () => {
    const text = compacted(firstSummary(), (session) => session.user("now the docs"));
    expect(sectionOf(text, "Primary Request and Intent")).toContain(
      '- "Add a retry to the fetcher and test it" → The retry is in place.',
    );
  });

  it("repeats how many user messages earlier summaries left out", () => {
    const session = new ConversationBuilder();
    for (let index = 0; index < 50; index++) session.user(`request ${index}`);
    const small = summarize(session.entries, { countTokens, budgetTokens: 600 }).text;
    const [, count] = /\((\d+) more user messages left out/.exec(small) ?? [];
    expect(Number(count)).toBeGreaterThan(0);
    expect(compacted(small, (next) => next.user("one more"))).toContain(
      `(${count} more user messages left out`,
    );
  });

  it("adds the number of new edits of a file to the number in the earlier summary", () => {
    const edit = { file_path: "/project/f0.ts", old_string: "b", new_string: "c" };
    const text = compacted(firstSummary(), (session) => session.tool("e9", "Edit", edit, "ok"));
    expect(sectionOf(text, "Files and Code Sections")).toContain("`f0.ts` — edited 2×");
  });

  it("drops an earlier to-do list only when a newer one replaces it", () => {
    const before = firstSummary();
    expect(
      sectionOf(
        compacted(before, (session) => session.user("hm")),
        "Pending Tasks",
      ),
    ).toContain("document the retry");
    const replaced = compacted(before, (session) =>
      session.tool("w", "TodoWrite", { todos: [{ content: "ship it", status: "pending" }] }, "ok"),
    );
    expect(sectionOf(replaced, "Pending Tasks")).toContain("ship it");
    expect(sectionOf(replaced, "Pending Tasks")).not.toContain("document the retry");
  });

  describe("open tasks in another agent's summary", () => {
    const theirs = [
      "## 7. Pending Tasks\n- Migrate the archive table",
      "## 9. Optional Next Step\nMeasure the importer with ten workers.",
    ].join("\n\n");
    const withWork = (session: ConversationBuilder): void => {
      session.user("First fix the header");
      session.assistant("The header is fixed.");
    };

    it("lists the next step of an earlier summary as a pending task when the agent has worked since", () => {
      const text = compacted(theirs, withWork);
      expect(sectionOf(text, "Pending Tasks")).toContain("Measure the importer with ten workers.");
      expect(sectionOf(text, "Optional Next Step")).not.toContain("ten workers");
    });

    it("drops the next step once the agent has reported and the user has asked for something else", () => {
      const constraint = "The importer must never write to the archive table.";
      const text = compacted(`${theirs}\n\n${constraint}`, (session) => {
        session.assistant("Ten workers are the fastest.");
        session.user("Now fix the header");
      });
      const pending = sectionOf(text, "Pending Tasks");
      expect(pending).not.toContain("Measure the importer");
      expect(pending).toContain(constraint);
      expect(pending).toContain("Migrate the archive table");
    });

    it("lists no line that only announces other items, and no finished work below such a line", () => {
      const listed =
        "## 7. Pending Tasks\n\nStill open, **none of it approved**:\n- Migrate the archive table\n\nAlready done:\n- The backup job";
      const pending = sectionOf(compacted(listed, withWork), "Pending Tasks");
      expect(pending).toContain("Migrate the archive table");
      expect(pending).not.toContain("Still open, **none");
      expect(pending).not.toContain("backup job");
    });

    it.each([
      [
        "is dropped when this test passes",
        "--- PASS: TestMenu_OpensTwice (0.01s)\nPASS\nok  \tmenu\t0.2s",
        false,
      ],
      ["stays when this test fails", "--- FAIL: TestMenu_OpensTwice (0.01s)\nFAIL\nFAIL\tmenu\t0.2s", true],
    ])("a task to fix a named test %s", (_, output, isOpen) => {
      const task = "## 7. Pending Tasks\n- Investigate and fix the `TestMenu_OpensTwice` failure";
      const text = compacted(task, (session) => {
        session.tool("t", "Bash", { command: 'go test -v -run "TestMenu_OpensTwice" ./menu' }, output);
      });
      expect(sectionOf(text, "Pending Tasks").includes("TestMenu_OpensTwice` failure")).toBe(isOpen);
    });

    it("drops a long task when a report says that the subject of its title is handled", () => {
      const task =
        '## 7. Pending Tasks\n- **Archive table migration check**: the user wants to "make sure that nothing is lost when both tables exist", with explicit tests for every phase of the importer.';
      const text = compacted(task, (session) =>
        session.assistant("The migration of the archive table is already fully handled by the importer."),
      );
      expect(sectionOf(text, "Pending Tasks")).not.toContain("Archive table");
    });

    it("adds to an earlier error that its named test was seen to pass, over many compactions", () => {
      const error = `- **TestMenu_OpensTwice failing**: still investigating. ${"It may be the cache. ".repeat(12)}`;
      let text = compacted(`## 4. Errors and Fixes\n${error}`, (session) => {
        session.tool(
          "t",
          "Bash",
          { command: "go test -v ./menu" },
          "--- PASS: TestMenu_OpensTwice (0.01s)\nPASS\nok  \tmenu\t0.2s",
        );
      });
      for (let round = 0; round < 4; round++) text = compacted(text, withWork);
      expect(sectionOf(text, "Errors and Fixes").trimEnd()).toMatch(/TestMenu.* → seen to pass since$/);
    });

    it("keeps the newest steps of earlier work that ended without words of the agent", () => {
      const steps = Array.from({ length: 9 }, (_, nth) => `- ran \`step ${nth}\` → ok`).join("\n");
      const text = compacted(`## 8. Current Work\n${steps}`, withWork);
      expect(sectionOf(text, "Problem Solving")).toContain("ran `step 8` → ok");
      expect(sectionOf(text, "Problem Solving")).not.toContain("ran `step 3`");
    });

    it("keeps the next step of an earlier summary as the next step when nothing happened since", () => {
      const text = compacted(theirs, () => {});
      expect(sectionOf(text, "Optional Next Step")).toContain("ten workers");
      expect(sectionOf(text, "Pending Tasks")).not.toContain("ten workers");
    });

    it("keeps pending tasks of an earlier summary that a newer to-do list does not name", () => {
      const text = compacted(theirs, (session) => {
        const todos = [{ content: "ship it", status: "pending" }];
        session.tool("w2", "TodoWrite", { todos }, "ok");
      });
      expect(sectionOf(text, "Pending Tasks")).toContain("ship it");
      expect(sectionOf(text, "Pending Tasks")).toContain("Migrate the archive table");
    });

    it("lists each pending task once over ten compactions, and drops outdated next steps", () => {
      let text = compacted(theirs, withWork);
      for (let round = 0; round < 10; round++) text = compacted(text, withWork);
      const pending = sectionOf(text, "Pending Tasks");
      expect(pending.split("ten workers")).toHaveLength(2);
      expect(pending.split("Migrate the archive table")).toHaveLength(2);
      expect(pending).not.toContain("looks answered");
    });
  });
});

describe("earlier summary that longhaul did not write", () => {
  const names = Array.from({ length: 60 }, (_, index) => `berth${index}`);
  const listed = (what: string): string => names.map((name) => `- ${what} of ${name} in words`).join("\n");
  const kept = SECTION_NAMES.filter((name) => name !== "Current Work");
  const theirs = SECTION_NAMES.map((name, index) => {
    const label = name === "Files and Code Sections" ? "**North quay, commit 0a1b2c3:**\n" : "";
    return `${index + 1}. ${name}:\n${label}${listed(name)}`;
  }).join("\n\n");

  it.each([
    ["work continued", true],
    ["nothing happened", false],
  ])("keeps every item of another author's summary over three compactions when %s", (_title, hasWork) => {
    let text = theirs;
    for (let round = 0; round < 3; round++) {
      const session = new ConversationBuilder();
      session.boundary();
      session.summary(continuationMessage({ summary: text, keptRecent: true, trigger: "auto" }));
      if (hasWork) {
        session.user(`Now quay ${round}`);
        session.assistant("It is done.");
      }
      text = summarize(session.entries, { countTokens, budgetTokens: 100_000 }).text;
      for (const name of hasWork ? kept : SECTION_NAMES) {
        for (const berth of names) expect(text).toContain(`${name} of ${berth} in words`);
      }
      expect(text).toContain("**North quay, commit 0a1b2c3:**");
      expect(text).not.toContain("follow verbatim");
    }
  });

  it("keeps all items about a file in an earlier summary when the file changed since", () => {
    const session = new ConversationBuilder();
    session.summary("3. Files and Code Sections:\n- `quay.ts`: holds the map\n- `quay.ts`: draws the tide");
    const edit = { file_path: "/project/quay.ts", old_string: "a", new_string: "b" };
    session.tool("e", "Edit", edit, "ok");
    const files = sectionOf(summarize(session.entries, { countTokens }).text, "Files and Code Sections");
    expect(files).toContain("holds the map");
    expect(files).toContain("draws the tide");
  });

  it("keeps an error in an earlier summary when the item of the error begins with a quotation", () => {
    const session = new ConversationBuilder();
    session.summary('4. Errors and fixes:\n- "no such quay" came up, fixed by a new map');
    const { text } = summarize(session.entries, { countTokens });
    expect(text).toContain('"no such quay" came up, fixed by a new map');
  });

  it("states how many items of an earlier summary did not fit", () => {
    const session = new ConversationBuilder();
    session.summary(theirs);
    const { text } = summarize(session.entries, { countTokens, budgetTokens: 2_000 });
    const errors = sectionOf(text, "Errors and Fixes");
    const shown = names.filter((name) => errors.includes(`of ${name} in words`)).length;
    expect(shown).toBeLessThan(names.length);
    expect(errors).toContain(`(${names.length - shown} more errors left out`);
  });
});

describe("collapsed spans in a summary", () => {
  const span = (session: ConversationBuilder, text: string): void => {
    const collapsed = {
      spanId: text.slice(0, 9),
      messages: 4,
      uuids: [],
      tokensBefore: 900,
      tokensAfter: 90,
    };
    session.user(text, { isMeta: true, collapsed } as object);
  };

  it("includes the notes of all collapsed spans, wherever they are in the conversation", () => {
    const session = new ConversationBuilder();
    span(session, '[These notes replace 4 messages]\n\n## All User Messages\n- "Mind the tides."');
    session.user("Now the berths.");
    span(session, `[These notes stand for 4 messages]\n\n${firstSummary()}`);
    session.assistant("The berths are done.");
    const { text } = summarize(session.entries, { countTokens });
    const messages = sectionOf(text, "All User Messages");
    for (const words of ["Mind the tides.", "Add a retry to the fetcher", "Now the berths."]) {
      expect(messages).toContain(words);
    }
    expect(sectionOf(text, "Files and Code Sections")).toContain("f0.ts");
    expect(text).not.toMatch(/These notes (?:replace|stand for)/);
  });

  it("keeps the notes of a collapsed span even when the notes have no headings", () => {
    const session = new ConversationBuilder();
    session.summary('## All User Messages\n- "Begin."');
    span(session, "The harbour was dredged.");
    const { text } = summarize(session.entries, { countTokens });
    expect(text).toContain("The harbour was dredged.");
    expect(text).toContain("Begin.");
  });
});

describe("summaries after kept messages", () => {
  const kept = (session: ConversationBuilder): void => {
    session.user("yes");
    session.tool("r", "Read", { file_path: "/project/a.ts" }, "1\tcode");
    const edit = { file_path: "/project/a.ts", old_string: "a", new_string: "b" };
    session.tool("e", "Edit", edit, "ok");
    session.assistant("Let me look at the tests first.");
  };

  /** Summarizes a session twice. The first summary covers the messages that are kept after it. */
  const twice = (
    build: (session: ConversationBuilder) => void,
    keptToo: (session: ConversationBuilder) => void = () => undefined,
  ): string => {
    const first = new ConversationBuilder("a");
    first.user("Add a menu to the page, please, with three entries");
    first.tool("r0", "Read", { file_path: "/project/page.ts" }, "1\tcode");
    first.assistant("Shall I start?");
    const from = first.entries.length;
    kept(first);
    keptToo(first);
    const tail = first.entries.slice(from);
    const { text } = summarize(first.entries, { countTokens });
    const second = new ConversationBuilder("b");
    second.boundary({
      longhaul: { overheadTokens: 0, tokenRatio: 1 },
      preservedMessages: {
        anchorUuid: "b-2",
        uuids: tail.flatMap(({ uuid }) => uuid ?? []),
        allUuids: [],
      },
    });
    second.summary(continuationMessage({ summary: text, keptRecent: true, trigger: "auto" }));
    for (const entry of tail) second.push(entry);
    build(second);
    return summarize(second.entries, { countTokens }).text;
  };

  it("count each edit once, count no reads, and list each message once", () => {
    const text = twice((session) => session.assistant("The menu has three entries now."));
    expect(sectionOf(text, "Files and Code Sections")).toMatch(/`a\.ts` — edited 1×, read$/m);
    expect(sectionOf(text, "All User Messages").split('"yes"')).toHaveLength(2);
    expect(sectionOf(text, "Primary Request and Intent").split('"yes"')).toHaveLength(2);
  });

  it("keep the files that were only read, and say of no changed file that it was only read", () => {
    const text = twice((session) => {
      session.tool("r2", "Read", { file_path: "/project/a.ts" }, "1\tcode");
      session.tool("r3", "Read", { file_path: "/project/b.ts" }, "1\tcode");
    });
    const files = sectionOf(text, "Files and Code Sections");
    expect(files).toMatch(/- Only read: .*`page\.ts`/);
    expect(files).toMatch(/- Only read: .*`b\.ts`/);
    expect(files).not.toMatch(/- Only read: .*`a\.ts`/);
    expect(files).toMatch(/`a\.ts` — edited 1×, read$/m);
  });

  it("update the state of an error in the earlier summary when its command succeeds", () => {
    const failed = "- `git commit -m 'feat: menu'`: Error: lint failed in menu.ts → not seen to pass since";
    const text = compacted(`## 4. Errors and Fixes\n${failed}`, (session) =>
      session.tool("c", "Bash", { command: "git commit -m 'feat: all'" }, "[main 1a2b3c4] feat: all"),
    );
    expect(sectionOf(text, "Errors and Fixes")).toContain("menu.ts → a later commit succeeded");
  });

  it("list an error once, with its newer state", () => {
    const text = twice((session) => session.assistant("It works."));
    expect(text).not.toContain("total is undefined");
    const failing = (session: ConversationBuilder): void => {
      session.assistant([toolUse("t1", "Bash", { command: "npm test" })]);
      session.user([toolResult("t1", "Exit code 1\nTypeError: total is undefined", true)]);
    };
    const later = twice((session) => {
      session.tool("t2", "Bash", { command: "npm test" }, "Tests  9 passed (9)");
    }, failing);
    expect(sectionOf(later, "Errors and Fixes").split("total is undefined")).toHaveLength(2);
  });

  it("say of a file that existed before that it was edited, also when it was written in full", () => {
    const text = twice((session) => {
      for (const name of ["page", "new"])
        session.tool(name, "Write", { file_path: `/project/${name}.ts`, content: "x" }, "ok");
    });
    const files = sectionOf(text, "Files and Code Sections");
    expect(files).toMatch(/`page\.ts` — edited 1×/);
    expect(files).toMatch(/`new\.ts` — created/);
  });

  it("give a past request the outcome that came after the earlier summary, and no announcement", () => {
    const compacted = new ConversationBuilder("c");
    const first = new ConversationBuilder("d");
    first.user("Add a menu to the page, please, with three entries");
    first.tool("r", "Read", { file_path: "/project/page.ts" }, "1\tcode");
    first.assistant("Let me look at the tests first.");
    const { text } = summarize(first.entries, { countTokens });
    compacted.boundary();
    compacted.summary(continuationMessage({ summary: text, keptRecent: false, trigger: "auto" }));
    compacted.assistant("The menu has three entries now.");
    compacted.user("Write the changelog for the release, with all new menus");
    const requests = sectionOf(
      summarize(compacted.entries, { countTokens }).text,
      "Primary Request and Intent",
    );
    expect(requests).toContain('with three entries" → The menu has three entries now.');
    expect(requests).not.toContain("look at the tests");
  });

  it("keep a message that the user sent twice, at different times", () => {
    let text = firstSummary();
    for (const topic of ["the guide", "the accent color"]) {
      text = compacted(text, (session) => {
        session.user(`Can we have ${topic} as well, or is it too much work?`);
        session.assistant(`It is little work. Shall I add ${topic}?`);
        session.user("Yes, please add it.");
        session.assistant(`Added ${topic}.`);
      });
    }
    expect(sectionOf(text, "All User Messages").split('"Yes, please add it."')).toHaveLength(3);
  });

  it("give no count of the lines of a message that an earlier summary cut, and add up what is missing", () => {
    const lines = Array.from({ length: 300 }, (_, nth) => `line ${nth} of the log`).join("\n");
    const first = new ConversationBuilder("d");
    first.user(lines);
    first.assistant("The log shows a failure.");
    let text = summarize(first.entries, { countTokens, budgetTokens: 1_800 }).text;
    expect(text).toContain("characters left out");
    expect(text).not.toMatch(/\(\d+ lines\)/);
    for (const budgetTokens of [1_800, 900]) {
      const session = new ConversationBuilder(`e${budgetTokens}`);
      session.boundary();
      session.summary(continuationMessage({ summary: text, keptRecent: false, trigger: "auto" }));
      session.assistant("The disk was full.");
      text = summarize(session.entries, { countTokens, budgetTokens }).text;
      expect(text).not.toMatch(/\(\d+ lines\)/);
    }
    const shown = /text\n(line 0[^`]*)\n```/.exec(text)?.[1] ?? "";
    const [mark = "", missing] =
      /\n\[… (\d+) characters left out: see the transcript …\]\n/.exec(shown) ?? [];
    expect(shown.length - mark.length + Number(missing)).toBe(lines.length);
  });

  it("give a report after a question to the unfinished request before the question too", () => {
    const first = new ConversationBuilder("d");
    first.user("Start with the migration of the archive table");
    first.tool("e", "Edit", { file_path: "/project/a.ts", old_string: "a", new_string: "b" }, "ok");
    first.user("How does the renderer find its icons and fonts?");
    first.assistant("The renderer embeds the icons in the fonts.");
    const text = compacted(summarize(first.entries, { countTokens }).text, (session) => {
      session.tool("f", "Edit", { file_path: "/project/b.ts", old_string: "a", new_string: "b" }, "ok");
      session.assistant("Migration shipped in three commits.");
      session.user("Now write the changelog of the release");
    });
    expect(sectionOf(text, "Primary Request and Intent")).toContain(
      'icons and fonts?" → for the last 2 requests: Migration shipped in three commits.',
    );
  });

  it("name the current request of the earlier summary when the work on it goes on", () => {
    const session = new ConversationBuilder("f");
    session.boundary();
    session.summary(continuationMessage({ summary: firstSummary(), keptRecent: false, trigger: "auto" }));
    session.tool("r", "Read", { file_path: "/project/f0.ts" }, "1\tcode");
    const { text } = summarize(session.entries, { countTokens });
    expect(sectionOf(text, "Optional Next Step")).toContain("Add a retry to the fetcher and test it");
    expect(sectionOf(text, "Pending Tasks")).toContain("In progress: the user's latest request");
  });
});

describe("causes and decisions in a summary", () => {
  /** Returns the section without the items about earlier work, which repeat what the agent said last. */
  const statementsIn = (text: string): string =>
    sectionOf(text, "Problem Solving")
      .split("\n")
      .filter((line) => !/^- Work at (?:the last|an earlier) summary: /.test(line))
      .join("\n");

  it.each([10, 40])("keeps every cause and every decision once over %i compactions", (rounds) => {
    const cause = (round: number): string =>
      `The root cause of failure ${round} was the quota of \`service-${round}.ts\`.`;
    const choice = (round: number): string =>
      `We decided to keep table_${round} in SQLite because job ${round} runs offline.`;
    let text = firstSummary();
    for (let round = 1; round <= rounds; round++) {
      text = compacted(text, (session) => {
        session.user(`Continue with part ${round}`);
        session.assistant(`${cause(round)} ${choice(round)}`);
        session.assistant(`Part ${round} is done.`);
      });
    }
    const solved = statementsIn(text);
    for (let round = 1; round <= rounds; round++) {
      expect(solved.split(`the quota of \`service-${round}.ts\``)).toHaveLength(2);
      expect(solved.split(choice(round))).toHaveLength(2);
    }
  });

  it("shows only the corrected belief after a correction in a later part", () => {
    const first = compacted(firstSummary(), (session) => {
      session.user("Why does the nightly export fail?");
      session.assistant("The nightly export fails because the cache is stale.");
      session.assistant("I will look at it.");
    });
    expect(statementsIn(first)).toContain("because the cache is stale");
    const second = compacted(first, (session) => {
      session.user("Look again");
      session.assistant("I was wrong: the nightly export fails because the clock is stale.");
      session.assistant("The clock is set now.");
    });
    expect(statementsIn(second)).toContain(
      "- Corrected: I was wrong: the nightly export fails because the clock is stale.",
    );
    expect(statementsIn(second)).not.toContain("because the cache is stale");
  });

  it("keeps only the newest items about the work at earlier summaries, and calls one of them the last", () => {
    let text = firstSummary();
    for (let round = 1; round <= 8; round++) {
      text = compacted(text, (session) => {
        session.user(`Continue with part ${round}`);
        session.assistant(`Part ${round} is done.`);
      });
    }
    const works = sectionOf(text, "Problem Solving")
      .split("\n")
      .filter((line) => /^- Work at (?:the last|an earlier) summary: /.test(line));
    expect(works.map((line) => line.split(":")[0])).toEqual([
      ...Array<string>(3).fill("- Work at an earlier summary"),
      "- Work at the last summary",
    ]);
    expect(works.at(-1)).toContain("Part 7 is done.");
    expect(works[0]).toContain("Part 4 is done.");
  });

  it("lists the reason for the option that the user chose, and the other options", () => {
    const options = [
      { label: "SQLite", description: "runs offline in the tests" },
      { label: "Postgres", description: "has schemas" },
    ];
    const text = compacted(firstSummary(), (session) => {
      session.user("Set up the storage");
      session.assistant([
        toolUse("a", "AskUserQuestion", { questions: [{ question: "Which database?", options }] }),
      ]);
      session.user([toolResult("a", '"Which database?"="SQLite"')], {
        toolUseResult: { answers: { "Which database?": "SQLite" } },
      });
      session.assistant("SQLite is set up.");
    });
    expect(sectionOf(text, "Problem Solving")).toContain(
      '- Which database? → "SQLite" (runs offline in the tests; not: Postgres)',
    );
  });

  it("marks a decision as the user's only if the user stated it", () => {
    const text = compacted(firstSummary(), (session) => {
      session.user("Let's use pnpm, since npm hoists too much.");
      session.assistant("We decided to drop Windows because nobody tests it.");
      session.assistant("Both are done.");
    });
    expect(statementsIn(text)).toContain("- Decision (user): Let's use pnpm, since");
    expect(statementsIn(text)).toContain("- Decision: We decided to drop Windows");
  });
});
