import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { after, sectionOf, summaryOf } from "./read-summary.case.ts";

const errorsIn = (text: string): string => sectionOf(text, "Errors and Fixes");

interface Call {
  readonly command: string;
  readonly description?: string;
  readonly output: string;
}

let calls = 0;
function shell(session: ConversationBuilder, { output, ...input }: Call): void {
  const id = `call-${++calls}`;
  session.assistant([toolUse(id, "Bash", input)], { cwd: "/shop" });
  session.user([toolResult(id, output, output.startsWith("Exit code"))], { cwd: "/shop" });
}

function started(...made: readonly Call[]): ConversationBuilder {
  const session = new ConversationBuilder();
  session.user("Add a discount to the cart");
  for (const call of made) shell(session, call);
  return session;
}

const FAILED_COMMIT: Call = {
  command: "git commit -m 'cart'",
  output: "Exit code 1\nError: lint failed in cart.ts",
};
const BYPASS: Call = { command: "git commit --no-verify -m 'cart'", output: "[main 1a2b3c4] cart" };
const COMMIT: Call = { command: "git commit -m 'list'", output: "[main 2b3c4d5] list" };

it("says that a message interrupted the assistant, and reads the wording of earlier summaries", () => {
  const session = started();
  session.assistant("I'll start.");
  session.user("[Request interrupted by user]");
  session.user("Use the older table of prices");
  const item = '- after interrupting the assistant: "Use the older table of prices"';
  expect(errorsIn(summaryOf(session))).toContain(item);
  for (const line of [item, '- interrupted: "Use the older table of prices"']) {
    const next = after(`## 4. Errors and Fixes\n**Corrections and interruptions by the user:**\n${line}`);
    next.user("Go on");
    expect(errorsIn(summaryOf(next))).not.toContain("older table");
  }
});

describe("rows about errors", () => {
  it("says that a failed commit was made without its hooks, also after a later commit with hooks", () => {
    const bypassed = started(FAILED_COMMIT, BYPASS);
    expect(errorsIn(summaryOf(bypassed))).toContain("cart.ts → committed later without the hooks\n");
    const inOne = started(FAILED_COMMIT, BYPASS, COMMIT);
    const chained = after(summaryOf(bypassed));
    shell(chained, COMMIT);
    const again = after(summaryOf(chained));
    again.assistant("Done.");
    for (const session of [inOne, chained, again])
      expect(errorsIn(summaryOf(session))).toContain(
        "cart.ts → committed later without the hooks; a later commit with them succeeded\n",
      );
  });

  it("says of a check that was not seen to pass that a commit passed the hooks which had failed", () => {
    const check: Call = {
      command: "npx eslint src",
      output: "Exit code 1\nsrc/cart.ts:3:1 error: missing name",
    };
    const session = started(check, FAILED_COMMIT, COMMIT);
    const ending = "→ not seen to pass since (a later commit with its hooks succeeded)\n";
    expect(errorsIn(summaryOf(session))).toContain(ending);
    const next = after(summaryOf(session));
    next.assistant("Done.");
    expect(errorsIn(summaryOf(next))).toContain(ending);
    shell(next, { command: "npx eslint src", output: "✖ 0 problems (0 errors, 0 warnings)" });
    expect(errorsIn(summaryOf(next))).toContain("missing name → seen to pass since");
    expect(errorsIn(summaryOf(started(check, COMMIT)))).toContain("→ not seen to pass since\n");
  });

  const fatal = "Exit code 128\nfatal: ambiguous argument 'src/cart.ts': unknown revision";
  it.each<[string, Call, Call]>([
    [
      "from another folder",
      { command: "git diff src/cart.ts", output: fatal },
      { command: "cd /shop/web && git diff -- src/cart.ts", output: "diff" },
    ],
    [
      "with the same description",
      {
        command: "wrap npm run suite",
        description: "Run all tests",
        output: "Exit code 2\nerror: unknown command",
      },
      { command: "npm run test", description: "Run all tests", output: "Tests  4 passed (4)" },
    ],
    [
      "with the same steps, of which one had failed",
      {
        command: "sed -i s/a/b/ a.go && go test ./...",
        output: "Exit code 2\nsed: can't read a.go: No such file",
      },
      { command: "cd /shop/src && sed -i s/a/b/ a.go && go test ./...", output: "ok  \tshop\t0.1s" },
    ],
  ])("says that a later attempt succeeded when the command was repeated %s", (_, failed, repeated) => {
    const session = started(failed, repeated);
    const next = after(summaryOf(session));
    next.assistant("Done.");
    for (const one of [session, next])
      expect(errorsIn(summaryOf(one))).toContain(" → a later attempt succeeded");
  });

  const script = `node -e "${"console.log(1);".repeat(9)}"`;
  const description = "Compare both price lists";
  it.each<[string, Call, Call]>([
    [
      "repeated",
      { command: "node prices.mjs", output: "Exit code 1\nSyntaxError: unexpected token" },
      { command: "node prices.mjs", output: "ok" },
    ],
    [
      "replaced by one with the same description",
      { command: script, description, output: "Exit code 1\nSyntaxError: unexpected token" },
      { command: "node compare.mjs", description, output: "ok" },
    ],
  ])("gives an error of an earlier summary its state when the command is %s", (_, failed, repeated) => {
    const next = after(summaryOf(started(failed)));
    expect(errorsIn(summaryOf(started(failed)))).not.toContain("→");
    shell(next, repeated);
    const last = after(summaryOf(next));
    last.assistant("Done.");
    for (const one of [next, last])
      expect(errorsIn(summaryOf(one))).toContain(" → a later attempt succeeded");
  });

  it("does not call a command successful because another command has a similar description", () => {
    const session = started(
      { command: "node a.mjs", description: "Run it", output: "Exit code 1\nError: boom" },
      { command: "node b.mjs", description: "Run it", output: "ok" },
    );
    expect(errorsIn(summaryOf(session))).not.toContain("succeeded");
  });

  it("does not say that nothing failed, because a failed search is no error on record", () => {
    const session = started({ command: "ls cart", output: "Exit code 1\n" });
    expect(errorsIn(summaryOf(session)).trim()).toBe("No failed tests, checks, builds or commits on record.");
    const next = after(summaryOf(session));
    next.assistant("Done.");
    expect(errorsIn(summaryOf(next)).split("No failed tests")).toHaveLength(2);
  });
});
