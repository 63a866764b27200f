import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolUse } from "../../../../../../test/support/builders.ts";
import type { Entry } from "../../../messages/entry.ts";
import { digestSession } from "./digest.ts";
import { postedTexts } from "./posted-text.ts";

describe("postedTexts", () => {
  it.each([
    [`gh pr comment 7 --body "Won't fix, since the list is short."`, "Won't fix, since the list is short."],
    [`cd app && gh pr review 7 -b 'It is "fine" here.' | tail -1`, 'It is "fine" here.'],
    [
      `gh api repos/o/r/pulls/7/comments -f body="Not a leak: \\"end\\" closes it." -f side=LEFT`,
      'Not a leak: "end" closes it.',
    ],
    [`glab mr note 7 --message="Skip this."`, "Skip this."],
    [
      `gh issue comment 7 --body "$(cat <<'EOF'\nFirst line.\nSecond line.\nEOF\n)"`,
      "First line.\nSecond line.",
    ],
  ])("returns the text that a command publishes: %s", (command, text) => {
    expect(postedTexts(command)).toEqual([text]);
  });

  it.each([
    `git commit --message "Skip this."`,
    `echo "gh pr comment --body x"`,
    `gh pr comment 7 --body "$TEXT"`,
    `gh pr comment 7 --body-file reply.md`,
    `gh api repos/o/r -f title="A title"`,
    `gh pr view 7 --body`,
  ])("returns nothing for a command that publishes no readable text: %s", (command) => {
    expect(postedTexts(command)).toEqual([]);
  });

  it("returns a published text verbatim, whatever words it has", () => {
    const text = fc
      .array(fc.constantFrom("cache", "won't", "12", "`a.ts`", "—", "(x)", "&&", "|", ";", "\n", "#"), {
        minLength: 1,
      })
      .map((words) => words.join(" ").trim())
      .filter((words) => words !== "" && words.length < 2_000);
    fc.assert(
      fc.property(text, (words) => {
        const quoted = words.replaceAll("`", "\\`");
        expect(postedTexts(`gh pr comment 7 --body "${quoted}"`)).toEqual([words]);
      }),
    );
  });

  it.each([`"`, "\\", "\n", "$(cat <<", " -b ", "gh -b ", "\n "])(
    "reads a hostile command in linear time: %j",
    (part) => {
      expect(postedTexts(`gh pr comment -b "$(cat <<E\n${part.repeat(20_000)}`).length).toBeLessThan(6_000);
    },
  );

  it("the reasons of a session include the reply that the assistant published", () => {
    const session = new ConversationBuilder();
    session.user("Answer the reviewer");
    const command = `gh pr comment 7 --body "We won't cache \`rows.ts\`, since the list is short."`;
    session.assistant([toolUse("t1", "Bash", { command })]);
    const [reason, ...others] = digestSession(session.entries as readonly Entry[]).reasons;
    expect(others).toEqual([]);
    expect(reason).toMatchObject({ type: "decision", by: "assistant", at: 1 });
    expect(reason?.text).toBe("We won't cache `rows.ts`, since the list is short.");
  });
});
