import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../../test/support/builders.ts";
import { SessionFiles } from "./session-files.ts";

const path = "/project/a.ts";

function filesAfter(build: (c: ConversationBuilder) => void): SessionFiles {
  const c = new ConversationBuilder();
  build(c);
  const files = new SessionFiles();
  files.add(c.entries);
  return files;
}

const textOf = async (files: SessionFiles): Promise<string | undefined> => {
  const answer = await files.read(path);
  return answer.state === "read" ? answer.text : undefined;
};

describe("SessionFiles", () => {
  it("returns the text of a file that the agent wrote, with all edits since then", async () => {
    const files = filesAfter((c) => {
      c.tool("t1", "Write", { file_path: path, content: "one two two" }, "ok");
      c.tool("t2", "Edit", { file_path: path, old_string: "one", new_string: "$&1" }, "ok");
      c.tool("t3", "Edit", { file_path: path, old_string: "two", new_string: "3", replace_all: true }, "ok");
    });
    expect(await textOf(files)).toBe("$&1 3 3");
  });

  it("returns the text of a file that the agent read in full, but not of a file that the agent read in part", async () => {
    expect(
      await textOf(filesAfter((c) => c.tool("t", "Read", { file_path: path }, "     1→a\n     2→b"))),
    ).toBe("a\nb");
    const part = { file_path: path, offset: 10 };
    expect(await textOf(filesAfter((c) => c.tool("t", "Read", part, "    10→a")))).toBeUndefined();
  });

  it("uses the content that the session recorded for a Read, but only if this content is the whole file", async () => {
    const file = { content: "whole", numLines: 1, totalLines: 1 };
    const recorded = (outcome: unknown) =>
      filesAfter((c) => {
        c.tool("t", "Read", { file_path: path });
        c.user([toolResult("t", "1→shown")], { toolUseResult: outcome });
      });
    expect(await textOf(recorded({ file }))).toBe("whole");
    expect(await textOf(recorded({ file: { ...file, totalLines: 9 } }))).toBeUndefined();
  });

  it("returns no text for a file if the only call for it failed, has no result, or edits text that was never read", async () => {
    const edit = { file_path: path, old_string: "a", new_string: "b" };
    const failed = filesAfter((c) => {
      c.tool("t", "Write", { file_path: path, content: "x" });
      c.user([toolResult("t", "no", true)]);
    });
    expect(await textOf(failed)).toBeUndefined();
    expect(
      await textOf(filesAfter((c) => c.tool("t", "Write", { file_path: path, content: "x" }))),
    ).toBeUndefined();
    expect(await textOf(filesAfter((c) => c.tool("t", "Edit", edit, "ok")))).toBeUndefined();
  });
});
