import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import type { Entry } from "../../../messages/entry.ts";
import { digestSession } from "./digest.ts";

const saidIn = (build: (session: ConversationBuilder) => void): readonly string[] => {
  const session = new ConversationBuilder("s");
  build(session);
  return digestSession(session.entries as readonly Entry[]).reasons.map(({ text }) => text);
};

const REFUSED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nreply below the comment";

describe("statedReasons", () => {
  it("keeps no cause that the user denies in the next message", () => {
    const cause = "The export fails because the server reads an older branch.";
    const said = saidIn((session) => {
      session.user("Why does the export fail?");
      session.assistant(cause);
      session.user("no. the server reads the current branch, look again");
      session.assistant("The export fails because the disk of the server is full.");
    });
    expect(said).toEqual(["The export fails because the disk of the server is full."]);
  });

  it("keeps no statement that a matter is still open at that moment", () => {
    const cause = "The export fails because the disk of the server is full.";
    const said = saidIn((session) => {
      session.user("Why does the export fail?");
      session.assistant(
        `${cause}\n\nTwo things:\n\n- **The currency question is still open** — every order would read the rates again, since \`rates/**\` sits in no \`cache-list\`. I lean toward paying it, but it's your call.`,
      );
      session.user("thanks");
    });
    expect(said).toEqual([cause]);
  });

  it("keeps the statements of a text when a no only answers its question", () => {
    const cause = "The export fails because the server reads an older branch.";
    const said = saidIn((session) => {
      session.user("Why does the export fail?");
      session.assistant(`${cause} Do you want another server?`);
      session.user("No, this one is enough");
      session.assistant("Understood.");
    });
    expect(said).toEqual([cause]);
  });

  it("keeps no cause with the thing that the user names as not the cause", () => {
    const said = saidIn((session) => {
      session.user("Why do the rows change?");
      session.assistant("The issue is that `rows:generate` writes the rows again with every build.");
      session.user("ah, the issue is the formatter, not rows:generate, I think");
      session.assistant("Understood.");
    });
    expect(said).toEqual(["ah, the issue is the formatter, not rows:generate, I think"]);
  });

  it("keeps no statement that the assistant calls wrong in its next answer", () => {
    const said = saidIn((session) => {
      session.user("Is the null check done?");
      session.assistant("The null check was already closed with the first commit, so nothing is left.");
      session.user("I cannot see it in that commit");
      session.assistant(
        "You're right - I was wrong. The null check came with the second commit, not the first.",
      );
    });
    expect(said).toEqual([
      "You're right - I was wrong. The null check came with the second commit, not the first.",
    ]);
  });

  it("keeps no announced change whose tool call the user refused", () => {
    const said = saidIn((session) => {
      session.user("Answer the comment");
      session.assistant([
        { type: "text", text: "Let me add a new comment instead of a reply." },
        toolUse("a", "Bash", { command: "gh pr comment 5 --body ok" }),
      ]);
      session.user([toolResult("a", REFUSED, true)]);
      session.assistant("Understood.");
    });
    expect(said).toEqual([]);
  });

  const edit = (session: ConversationBuilder, id: string, was: string, now: string): void =>
    void session.tool(id, "Edit", { file_path: "/p/rows.ts", old_string: was, new_string: now }, "ok");

  it("keeps no announced change that a later edit took back", () => {
    const build = (isUndone: boolean) => (session: ConversationBuilder) => {
      session.user("Clean up the imports");
      session.assistant("I need to add the row import since the printer still reads `rowMap`.");
      edit(session, "a", "import a", "import a, row");
      session.assistant("Now the printer.");
      if (isUndone) edit(session, "b", "import a, row", "import a");
    };
    expect(saidIn(build(false))).toHaveLength(1);
    expect(saidIn(build(true))).toEqual([]);
  });

  it("keeps the observation before an announced change that a later edit took back", () => {
    const said = saidIn((session) => {
      session.user("Clean up the imports");
      session.assistant(
        "The `rowMap` import was removed since it came from the old printer. I need to add it back since the loader reads it.",
      );
      edit(session, "a", "import a", "import a, rowMap");
      edit(session, "b", "import a, rowMap", "import a");
    });
    expect(said).toEqual(["The `rowMap` import was removed since it came from the old printer."]);
  });

  it("keeps the statement after a closer look, not the one before it", () => {
    const said = saidIn((session) => {
      session.user("Why does the linter warn?");
      session.assistant(
        "The linter warns because `rowMap` is imported twice in the printer.\n\nLet me check the printer:",
      );
      session.tool("a", "Read", { file_path: "/p/print.ts" }, "import rowMap");
      session.assistant("The linter warns because the loader imports `rowMap` and never reads it.");
    });
    expect(said).toEqual(["The linter warns because the loader imports `rowMap` and never reads it."]);
  });
});
