import type { PermissionNeed } from "@longhaul/agent";
import { describe, expect, it } from "vitest";
import { fakeScreen } from "../../../../test/support/fake-chat.ts";
import { textWidth } from "../view/text-width.ts";
import { screenPerson } from "./person.ts";
import type { Choice } from "./screen/screen.ts";

const signal = new AbortController().signal;

/** Returns the question that the person gets. */
async function askedFor(need: Partial<PermissionNeed>, description?: string): Promise<Choice> {
  const screen = fakeScreen();
  const person = screenPerson({ screen, describe: () => description, interrupt: () => undefined });
  const agentId = description === undefined ? undefined : "a1";
  await person.permit({ kind: "shell", title: "Run it", key: "shell:it", ...need }, { signal, agentId });
  return screen.asked[0] as Choice;
}

/** Builds the permission request like the shell tool does: the title has one line. */
const commandNeed = (command: string): Partial<PermissionNeed> => ({
  title: `Run ${command.replace(/\s+/g, " ")}`,
  detail: command,
});

describe("permission questions", () => {
  it("the options of a permission question have no letter keys, so that no single letter grants a permission", async () => {
    const { grants, options } = await askedFor({ scope: "npm test" });
    expect(grants).toBe(true);
    expect(options.map(({ key }) => key)).toEqual([undefined, undefined, undefined]);
  });

  it("cuts a subagent's long description, so that the title of a permission question stays visible", async () => {
    const { title } = await askedFor({ title: "Run rm -rf ~" }, `Look${" at it".repeat(100_000)}`);
    expect(title).toMatch(/^Agent "Look at it at it.*…": Run rm -rf ~$/);
    expect(textWidth(title)).toBeLessThanOrEqual(65);
  });

  it("shows hidden characters in a subagent's description as escape codes", async () => {
    const { title } = await askedFor({ title: "Run touch x" }, `Run echo" fine \u1ac1\u3164`);
    expect(title).toBe(`Agent "Run echo' fine \\u{1ac1}\\u{3164}": Run touch x`);
  });

  it("shows a command below the title, unless the title already shows the whole command", async () => {
    expect((await askedFor(commandNeed("npm test"))).detail).toBeUndefined();
    for (const command of ["echo hi # a\nrm -rf ~", `echo ${" ".repeat(300)}; rm -rf ~`, "echo\trm"])
      expect((await askedFor(commandNeed(command))).detail).toBe(command);
  });

  it("shows escape sequences in a command as codes, so that no part of the command is hidden", async () => {
    const { title, detail } = await askedFor(commandNeed("echo \u001b]0;rm -rf ~;\u0007 \u009bm\r done"));
    expect(detail).toBe("echo \\u001b]0;rm -rf ~;\\u0007 \\u009bm\\u000d done");
    expect(title).toContain("\\u001b]0;rm -rf ~;\\u0007");
  });
});

it("a question of the model appears unasked, without a command of the person, and grants no permission", async () => {
  const screen = fakeScreen();
  const person = screenPerson({ screen, describe: () => undefined, interrupt: () => undefined });
  const question = { question: "Which?", options: [{ label: "A" }], mayChooseSeveral: false };
  await person.answer(question, { signal, agentId: undefined });
  expect(screen.asked[0]).toMatchObject({ appearsUnasked: true });
  expect(screen.asked[0]?.grants).toBeUndefined();
});
