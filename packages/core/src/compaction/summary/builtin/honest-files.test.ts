import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { after, sectionOf, summaryOf } from "./read-summary.case.ts";

const filesOf = (text: string): string => sectionOf(text, "Files and Code Sections");

let calls = 0;
const id = (): string => `call-${++calls}`;
const reads = (session: ConversationBuilder, path: string): unknown =>
  session.tool(id(), "Read", { file_path: path }, "1\tcode");
const edits = (session: ConversationBuilder, path: string, was = "a", now = "b"): unknown =>
  session.tool(id(), "Edit", { file_path: path, old_string: was, new_string: now }, "ok");
const writes = (session: ConversationBuilder, path: string): unknown =>
  session.tool(id(), "Write", { file_path: path, content: "x" }, "File created successfully");
const runs = (session: ConversationBuilder, command: string): unknown =>
  session.tool(id(), "Bash", { command }, "ok");

function started(): ConversationBuilder {
  const session = new ConversationBuilder();
  session.user("Add a discount to the cart");
  return session;
}

describe("rows about files", () => {
  it("prints no number of reads, and reads the numbers of earlier summaries", () => {
    const earlier = [
      "## 3. Files and Code Sections",
      "**Changed, most recent first:**",
      "- `src/cart.ts` — edited 2×, read 4×, also changed outside the conversation",
      "**Files read but not changed:**",
      "- Only read: `src/page.ts` (3×), `src/list.ts`",
    ].join("\n");
    const session = after(earlier);
    session.user("Go on");
    reads(session, "/shop/src/cart.ts");
    reads(session, "/shop/src/page.ts");
    const files = filesOf(summaryOf(session));
    expect(files).toContain("`/shop/src/cart.ts` — edited 2×, read, also changed by a person or a command\n");
    expect(files).toContain("- Only read: `/shop/src/page.ts`, `src/list.ts`");
    expect(files).not.toMatch(/read \d|\(\d×\)/);
  });

  it("does not list a file as only read when git names it as changed, also after a summary", () => {
    const named: readonly (readonly [command: string, output: string])[] = [
      ["git add src/cart.ts src/list.ts", ""],
      ["git status --short", " M src/cart.ts\nM  src/list.ts\n?? notes.txt"],
      ["git status", "Changes:\n\tmodified:   src/cart.ts\n\tnew file:   src/list.ts"],
      ["git diff --cached --stat", " src/cart.ts | 2 +-\n src/list.ts | 9 +++\n 2 files changed"],
    ];
    for (const [command, output] of named) {
      const session = started();
      for (const name of ["cart", "list", "page"]) reads(session, `/shop/src/${name}.ts`);
      expect(filesOf(summaryOf(session))).toContain("cart.ts");
      const next = after(summaryOf(session));
      for (const later of [session, next]) {
        later.tool(id(), "Bash", { command }, output);
        expect(filesOf(summaryOf(later)), command).toContain("- Only read: `/shop/src/page.ts`");
        expect(filesOf(summaryOf(later)), command).not.toMatch(/cart|list/);
      }
    }
    const review = started();
    reads(review, "/shop/src/cart.ts");
    review.tool(id(), "Bash", { command: "git diff --stat main..topic" }, " src/cart.ts | 2 +-");
    expect(filesOf(summaryOf(review))).toContain("- Only read: `/shop/src/cart.ts`");
  });

  it("states no reason of a change that only says that something runs, also from an earlier summary", () => {
    const session = after(
      "## 3. Files and Code Sections\n- `/shop/src/cart.ts` — edited 2×\n  Why: Task B still running (the labels are missing)",
    );
    session.user("Add a discount to the cart");
    session.assistant("Build 7 is still running (the pictures of the shop are missing).");
    edits(session, "/shop/src/cart.ts");
    const files = filesOf(summaryOf(session));
    expect(files).toContain("edited 3×");
    expect(files).not.toContain("still running");
  });

  it("does not list a file as read when every read of it failed", () => {
    const session = started();
    session.assistant([toolUse("r", "Read", { file_path: "/shop/src/cart.ts" })]);
    session.user([toolResult("r", "<tool_use_error>Sibling tool call errored</tool_use_error>", true)]);
    expect(filesOf(summaryOf(session))).not.toContain("cart.ts");
  });

  it("prints no number of edits for a file that shell commands changed too", () => {
    const session = started();
    edits(session, "/shop/src/cart.ts");
    runs(session, "sed -i s/a/b/ /shop/src/cart.ts");
    runs(session, "cat >> /shop/src/list.ts <<EOF\nx\nEOF");
    const text = summaryOf(session);
    const next = after(text);
    edits(next, "/shop/src/cart.ts");
    edits(next, "/shop/src/list.ts");
    for (const files of [filesOf(text), filesOf(summaryOf(next))])
      expect(files).toContain("`/shop/src/cart.ts` — edited, also by shell commands\n");
    expect(filesOf(text)).toContain("`/shop/src/list.ts` — changed by shell commands\n");
    expect(filesOf(summaryOf(next))).toContain("`/shop/src/list.ts` — edited, also by shell commands\n");
  });

  it("says of a scratch file that the assistant appended to it, and not that somebody else changed it", () => {
    const session = started();
    writes(session, "/tmp/notes/plan.md");
    runs(session, "cat >> /tmp/notes/plan.md <<EOF\nx\nEOF");
    session.attachment({ type: "edited_text_file", filename: "/tmp/notes/plan.md", snippet: "x" });
    const files = filesOf(summaryOf(session));
    expect(files).toContain("plan.md` — created, changed by shell commands\n");
    expect(files).not.toContain("a person");
  });

  it("does not list a file that a command line changed and restored", () => {
    const session = started();
    runs(
      session,
      "cp src/cart.go /tmp/cart.bak && sed -i s/a/b/ src/cart.go && go test ./...; cp /tmp/cart.bak src/cart.go",
    );
    runs(session, "sed -i s/a/b/ src/list.go && go test ./...; git checkout src/list.go");
    expect(filesOf(summaryOf(session)).trim()).toBe("No files on record.");
  });

  it("lists changed files by their last known change, whatever the number of edits", () => {
    const session = started();
    for (let edit = 0; edit < 9; edit++) edits(session, "/shop/src/cart.ts", `a${edit}`, `b${edit}`);
    writes(session, "/shop/src/list.ts");
    runs(session, "sed -i s/a/b/ /shop/src/page.ts");
    reads(session, "/shop/src/cart.ts");
    const order = [...filesOf(summaryOf(session)).matchAll(/^- `\/shop\/src\/(\w+)\.ts`/gm)].map(
      ([, name]) => name,
    );
    expect(order).toEqual(["page", "list", "cart"]);
  });

  it("lists a file that was only read since the earlier summary after the files that were changed since", () => {
    const session = started();
    edits(session, "/shop/src/cart.ts");
    const next = after(summaryOf(session));
    edits(next, "/shop/src/list.ts");
    for (const name of ["a", "b", "c", "d", "cart"]) reads(next, `/shop/src/${name}.ts`);
    expect(filesOf(summaryOf(next))).toMatch(/list\.ts[\s\S]*cart\.ts/);
  });

  it("shows no edit of which a later edit removed a line", () => {
    const session = started();
    edits(session, "/shop/src/cart.ts", "total()", "total()\nlenient()\nround()");
    edits(session, "/shop/src/cart.ts", "lenient()", "strict()");
    session.user("Now the list");
    session.assistant("Let me see.");
    for (const path of ["a", "b", "c"]) edits(session, `/shop/src/${path}.ts`);
    session.assistant("Done.");
    const files = filesOf(summaryOf(session));
    expect(files).toContain("+strict()");
    expect(files).not.toMatch(/^[ +]*lenient/m);
  });

  it("cuts whole code blocks from an item of an earlier summary, never a part of a change", () => {
    const removed = Array.from({ length: 40 }, (_, line) => `-removed line number ${line} of the handler`);
    const code = ["  ```ts", "  added();", "  ```", "  ```diff", ...removed, "  ```"];
    const earlier = [
      "## 3. Files and Code Sections",
      "- `src/cart.ts` — edited 2×",
      "  Why: the total was wrong",
    ];
    const session = after([...earlier, ...code].join("\n"));
    session.assistant("Done.");
    const files = filesOf(summaryOf(session));
    expect(files).toContain("Why: the total was wrong");
    expect(files).not.toContain("```");
  });

  it("uses no announcement of a change to another file as the reason for a change", () => {
    const session = started();
    session.assistant("Now fix the rounding of the total in `list.ts`:");
    edits(session, "/shop/src/list.ts");
    edits(session, "/shop/src/cart.ts");
    const files = filesOf(summaryOf(session));
    expect(files.split("Why: ")).toHaveLength(2);
    expect(files).toMatch(/list\.ts` — edited 1×\n {2}Why: Now fix the rounding/);
  });
});
