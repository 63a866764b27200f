import { describe, expect, it } from "vitest";
import type { PermissionAnswer, PermissionNeed, PermissionSettings, Person } from "../permission.ts";
import { type CallToCheck, Permissions } from "./permissions.ts";

const need = (key: string, details: Partial<PermissionNeed> = {}): PermissionNeed => ({
  kind: "shell",
  title: `Run ${key}`,
  key,
  scope: `what is called ${key}`,
  ...details,
});

const call = (details: Partial<CallToCheck> = {}): CallToCheck => ({
  signal: new AbortController().signal,
  agentId: undefined,
  isPlanMode: false,
  isReadOnly: false,
  tool: "Bash",
  ...details,
});

interface Asked {
  readonly key: string;
  readonly agentId: string | undefined;
  answer(answer: PermissionAnswer): void;
}

/** Creates a person whose answers the test controls. */
function somebody(): { person: Person; asked: Asked[]; nextAsked(): Promise<Asked> } {
  const asked: Asked[] = [];
  let wake: () => void = () => undefined;
  let seen = 0;
  return {
    asked,
    nextAsked: async () => {
      while (asked[seen] === undefined) await new Promise<void>((resolve) => (wake = resolve));
      return asked[seen++] as Asked;
    },
    person: {
      permit: ({ key }, { agentId, signal }) =>
        new Promise((answer, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          asked.push({ key, agentId, answer });
          wake();
        }),
      answer: async () => ["yes"],
    },
  };
}

const answering = (settings: PermissionSettings, ...answers: PermissionAnswer[]) => {
  const asked: string[] = [];
  const permissions = new Permissions(settings, {
    permit: async ({ key }) => {
      asked.push(key);
      return answers.shift() ?? { allow: "no" };
    },
    answer: async () => undefined,
  });
  return { permissions, asked };
};

const words = async (permissions: Permissions, ...needs: PermissionNeed[]): Promise<string> => {
  const verdict = await permissions.check(needs, call());
  return verdict.allowed ? "allowed" : verdict.words;
};

describe("permission questions", () => {
  it("does not ask the person about a tool call that needs no permission", async () => {
    const { permissions, asked } = answering({});
    expect(await permissions.check([], call())).toEqual({ allowed: true });
    expect(asked).toEqual([]);
  });

  it("asks before every edit in mode default, and before no edit in mode accept-edits", async () => {
    const changes = [need("change:a.ts", { kind: "change" }), need("change:b.ts", { kind: "change" })];
    const asking = answering({}, { allow: "once" }, { allow: "once" });
    expect(await words(asking.permissions, ...changes)).toBe("allowed");
    expect(asking.asked).toEqual(["change:a.ts", "change:b.ts"]);
    const accepting = answering({ mode: "accept-edits" });
    expect(await words(accepting.permissions, ...changes)).toBe("allowed");
    expect(accepting.asked).toEqual([]);
  });

  it('the answer "always" to one edit allows all other ordinary edits, but no command', async () => {
    const { permissions, asked } = answering({}, { allow: "always" });
    expect(permissions.mode).toBe("default");
    expect(await words(permissions, need("change:a.ts", { kind: "change" }))).toBe("allowed");
    expect(await words(permissions, need("change:b.ts", { kind: "change" }))).toBe("allowed");
    expect(permissions.mode).toBe("accept-edits");
    expect(await words(permissions, need("shell:ls"))).not.toBe("allowed");
    expect(asked).toEqual(["change:a.ts", "shell:ls"]);
  });

  it.each(["guarded-file", "secret-file"] as const)(
    'asks about a %s each time, even after the answer "always", in every mode except allow-all',
    async (kind) => {
      for (const mode of ["default", "accept-edits"] as const) {
        const always: PermissionAnswer = { allow: "always" };
        const { permissions, asked } = answering({ mode, allow: ["*", "write*"] }, always, always);
        for (let time = 0; time < 3; time++)
          await permissions.check([need("write-guarded:x", { kind })], call());
        expect(asked).toHaveLength(3);
      }
      expect(await words(answering({ mode: "allow-all" }).permissions, need("x", { kind }))).toBe("allowed");
      const named = answering({ allow: ["write-guarded:x"] });
      expect(await words(named.permissions, need("write-guarded:x", { kind }))).toBe("allowed");
    },
  );

  it('asks before every action in the home folder, and does not offer the answer "always"', async () => {
    const asked: PermissionNeed[] = [];
    const permit: Person["permit"] = async (given) => {
      asked.push(given);
      return { allow: "always" };
    };
    const settings = { mode: "accept-edits", allow: ["shell:*", "web:a"] } as const;
    const person = { permit, answer: async () => undefined };
    const permissions = new Permissions(settings, person, { isWideFolder: true });
    const needs = [need("change:a", { kind: "change" }), need("shell:ls"), need("web:a", { kind: "web" })];
    for (let time = 0; time < 2; time++) expect(await words(permissions, ...needs)).toBe("allowed");
    expect(asked.map(({ key }) => key)).toEqual(["change:a", "shell:ls", "change:a", "shell:ls"]);
    expect(asked.every(({ scope }) => scope === undefined)).toBe(true);
    const nobody = new Permissions(settings, undefined, { isWideFolder: true });
    expect(await words(nobody, need("shell:ls"))).toContain("(rule: wide-folder)");
  });

  it("asks about an allowed command again after the agent changes a file that decides what code the command runs", async () => {
    const always: PermissionAnswer = { allow: "always" };
    const once: PermissionAnswer = { allow: "once" };
    const { permissions, asked } = answering({}, always, always, once, once, once);
    const [test, list] = [need("shell:npm test", { runsCode: true }), need("shell:ls")];
    expect(await words(permissions, test, list)).toBe("allowed");
    expect(await words(permissions, need("change:a.ts", { kind: "change" }))).toBe("allowed");
    expect(await words(permissions, test, list)).toBe("allowed");
    const script = need("write-guarded:p", { kind: "guarded-file", decidesCommands: true });
    expect(await words(permissions, script)).toBe("allowed");
    expect(await words(permissions, test, list)).toBe("allowed");
    expect(asked).toEqual(["shell:npm test", "shell:ls", "change:a.ts", "write-guarded:p", "shell:npm test"]);
  });

  it("asks about an allowed command again after any program changes a file that decides what code the command runs", async () => {
    let mark = "one";
    const asked: string[] = [];
    const permit: Person["permit"] = async ({ key }) => {
      asked.push(key);
      return { allow: "always" };
    };
    const person = { permit, answer: async () => undefined };
    const permissions = new Permissions({}, person, { decidingFiles: async () => mark });
    const needs = [need("shell:npm test", { runsCode: true }), need("shell:ls")];
    for (mark of ["one", "one", "two", "two"]) expect(await words(permissions, ...needs)).toBe("allowed");
    expect(asked).toEqual(["shell:npm test", "shell:ls", "shell:npm test"]);
  });

  it("a refused edit of a guarded file revokes no permission", async () => {
    const { permissions, asked } = answering({}, { allow: "always" }, { allow: "no" });
    const test = need("shell:npm test", { runsCode: true });
    await permissions.check([test], call());
    await permissions.check([need("p", { kind: "guarded-file", decidesCommands: true })], call());
    await permissions.check([test], call());
    expect(asked).toEqual(["shell:npm test", "p"]);
  });

  it("a refusal lists each missing permission with its rule and the flag that would allow the action", async () => {
    const nobody = new Permissions({}, undefined);
    const needs = [need("shell:npm test"), need("write-guarded:x", { kind: "guarded-file" })];
    expect(await nobody.check(needs, call())).toMatchObject({
      byPerson: false,
      refusals: [
        { title: "Run shell:npm test", rule: "shell", flag: "--allow 'shell:npm test'" },
        { rule: "guarded-file", flag: "--allow 'write-guarded:x'" },
      ],
    });
    const { permissions } = answering({}, { allow: "no" });
    expect(await permissions.check(needs, call())).toMatchObject({
      byPerson: true,
      refusals: [{ rule: "shell" }],
    });
  });

  it("mode allow-all asks no question, not even about a plan", async () => {
    const { permissions, asked } = answering({ mode: "allow-all" });
    const all = [need("shell-exact:a; b"), need("plan", { kind: "plan" }), need("web:x", { kind: "web" })];
    expect(await words(permissions, ...all)).toBe("allowed");
    expect(asked).toEqual([]);
  });

  it("asks only for permissions that no rule in the settings allows", async () => {
    const { permissions, asked } = answering({ allow: ["shell:npm test", "web:*"] }, { allow: "once" });
    const needs = [need("shell:npm test"), need("web:a", { kind: "web" }), need("shell:npm publish")];
    expect(await words(permissions, ...needs)).toBe("allowed");
    expect(asked).toEqual(["shell:npm publish"]);
  });

  it('the answer "once" allows one call, and the answer "always" also allows all later calls with the same key', async () => {
    const { permissions, asked } = answering({}, { allow: "once" }, { allow: "always" });
    for (let time = 0; time < 4; time++) await permissions.check([need("shell:ls")], call());
    expect(asked).toEqual(["shell:ls", "shell:ls"]);
  });

  it('the answer "always" allows only the same key again, even if the key ends in a star', async () => {
    const { permissions, asked } = answering({}, { allow: "always" });
    expect(await words(permissions, need("shell:ls*"))).toBe("allowed");
    expect(await words(permissions, need("shell:lsof"))).not.toBe("allowed");
    expect(asked).toEqual(["shell:ls*", "shell:lsof"]);
  });

  it("a permission question shows hidden characters as codes, but the permission key keeps these characters", async () => {
    const asked: PermissionNeed[] = [];
    const permit: Person["permit"] = async (given) => {
      asked.push(given);
      return { allow: "always" };
    };
    const permissions = new Permissions({}, { permit, answer: async () => undefined });
    const command = "ls \u001b]0;\trm x;\r\n\u0007 \u202egnp.exe\u200b \u{1f469}\u200d\u{1f467}\r\ud800";
    const hidden = need(`shell-exact:${command}`, { title: command, detail: command, scope: command });
    await permissions.check([hidden], call());
    const shown =
      "ls \\u{1b}]0;\trm x;\r\n\\u{7} \\u{202e}gnp.exe\\u{200b} \u{1f469}\u200d\u{1f467}\\u{d}\\u{d800}";
    expect(asked).toEqual([{ ...hidden, title: shown, detail: shown, scope: shown }]);
    await permissions.check([hidden], call());
    expect(asked).toHaveLength(1);
  });

  it.each([
    ["blanks that no shell splits at", "a\u00a0b\u2003c\u3000d", "a\\u{a0}b\\u{2003}c\\u{3000}d"],
    [
      "characters without width",
      "a\u034fb\u200cc\u3164d\ufe0fe\u2800",
      "a\\u{34f}b\\u{200c}c\\u{3164}d\\u{fe0f}e\\u{2800}",
    ],
    ["marks that pile up", "a\u0301\u0302\u0303 \u1ac1", "a\u0301\u0302\\u{303} \\u{1ac1}"],
    ["marks that terminals draw in different widths", "a\u1ac1", "a\\u{1ac1}"],
    ["characters hidden behind an emoji", "™\u3164x 🏴\u{e0072}", "™\\u{3164}x 🏴\\u{e0072}"],
    [
      "no character of ordinary text",
      "naïve re\u0301sume\u0301 日本語 👩‍👧 ✈️ नमस्ते",
      "naïve re\u0301sume\u0301 日本語 👩‍👧 ✈️ नमस्ते",
    ],
  ])("a permission question shows %s as codes", async (_, title, shown) => {
    const asked: string[] = [];
    const permit: Person["permit"] = async (given) => {
      asked.push(given.title);
      return { allow: "no" };
    };
    const permissions = new Permissions({}, { permit, answer: async () => undefined });
    await permissions.check([need("x", { title })], call());
    expect(asked).toEqual([shown]);
  });

  it('asks each time for a permission without a scope, even after the answer "always"', async () => {
    const { permissions, asked } = answering({}, { allow: "always" }, { allow: "always" });
    const { scope: _, ...plan } = need("plan");
    await permissions.check([plan], call());
    await permissions.check([plan], call());
    expect(asked).toEqual(["plan", "plan"]);
  });

  it("a tool call runs only with all its permissions, and after the first refusal it asks no more questions", async () => {
    const { permissions, asked } = answering({}, { allow: "once" }, { allow: "no" });
    expect(await words(permissions, need("a"), need("b"), need("c"))).toContain("Run b");
    expect(asked).toEqual(["a", "b"]);
  });

  it("an unknown answer to a permission question allows nothing", async () => {
    const { permissions } = answering({}, { allow: "perhaps" } as unknown as PermissionAnswer);
    expect(await words(permissions, need("a"))).not.toBe("allowed");
  });
});

describe("refusals that the model reads", () => {
  it("a refusal quotes the person's answer to the model", async () => {
    const { permissions } = answering({}, { allow: "no", words: " use pnpm instead " });
    expect(await words(permissions, need("shell:npm test"))).toMatch(
      /Run shell:npm test \(rule: shell\)\n.*: use pnpm instead$/,
    );
  });

  it("a refusal without an explanation asks the model not to try another way", async () => {
    expect(await words(answering({}, { allow: "no" }).permissions, need("a"))).toContain("another way");
  });

  it("plan mode stays on when the user refuses the plan, and when there is no user to accept the plan", async () => {
    const plan = need("plan", { kind: "plan" });
    const { permissions } = answering({}, { allow: "no", words: "smaller steps" }, { allow: "no" });
    expect(await words(permissions, plan)).toMatch(/stays on\.\n.*smaller steps$/);
    expect(await words(permissions, plan)).toMatch(/stays on\.\n.*what to change/);
    expect(await words(new Permissions({}, undefined), plan)).toMatch(/stays on.*as your answer/);
  });

  it("a refusal explains how to allow a command when nobody can answer questions", async () => {
    const message = await words(
      new Permissions({}, undefined),
      need("shell:npm test"),
      need("shell-exact:echo 'a'; b"),
    );
    expect(message).toContain("Run shell:npm test");
    expect(message).toContain(`--allow 'shell:npm test' --allow 'shell-exact:echo '\\''a'\\''; b'`);
    expect(message).toContain(`"shell:npm test"`);
    expect(message).toContain("permissions.allow");
    expect(message).toContain("--permission-mode allow-all");
  });
});

describe("permissions in plan mode", () => {
  it("plan mode refuses every tool that is not read-only, in every permission mode, without a question", async () => {
    for (const mode of ["default", "accept-edits", "allow-all"] as const) {
      const { permissions, asked } = answering({ mode, allow: ["*"] }, { allow: "once" });
      const verdict = await permissions.check([need("a")], call({ isPlanMode: true, tool: "Write" }));
      expect(verdict).toMatchObject({ allowed: false, words: expect.stringContaining("ExitPlanMode") });
      expect(asked).toEqual([]);
    }
  });

  it("in plan mode, read-only tools still ask for permission, and ExitPlanMode asks for approval of the plan", async () => {
    const { permissions, asked } = answering({}, { allow: "once" }, { allow: "once" });
    const looking = call({ isPlanMode: true, isReadOnly: true, tool: "Read" });
    expect(await permissions.check([need("path:/x")], looking)).toEqual({ allowed: true });
    const leaving = call({ isPlanMode: true, tool: "ExitPlanMode" });
    expect(await permissions.check([need("plan", { kind: "plan" })], leaving)).toEqual({ allowed: true });
    expect(asked).toEqual(["path:/x", "plan"]);
  });
});

describe("permissions of several agents", () => {
  it("asks the questions of several agents one at a time, in order, and names the agent that asks", async () => {
    const { person, asked, nextAsked } = somebody();
    const permissions = new Permissions({}, person);
    const first = permissions.check([need("a"), need("b")], call({ agentId: "one" }));
    const second = permissions.check([need("c")], call({ agentId: "two" }));
    for (const key of ["a", "b", "c"]) {
      const question = await nextAsked();
      expect(question.key).toBe(key);
      expect(asked).toHaveLength(["a", "b", "c"].indexOf(key) + 1);
      question.answer({ allow: "once" });
    }
    expect(asked.map(({ agentId }) => agentId)).toEqual(["one", "one", "two"]);
    expect(await Promise.all([first, second])).toEqual([{ allowed: true }, { allowed: true }]);
  });

  it('skips the question of a waiting agent when another agent gets the answer "always" for the same key', async () => {
    const { person, asked, nextAsked } = somebody();
    const permissions = new Permissions({}, person);
    const both = [
      permissions.check([need("a")], call()),
      permissions.check([need("a")], call({ agentId: "two" })),
    ];
    (await nextAsked()).answer({ allow: "always" });
    expect(await Promise.all(both)).toEqual([{ allowed: true }, { allowed: true }]);
    expect(asked).toHaveLength(1);
  });

  it("a question from a tool waits until an earlier permission question is answered", async () => {
    const { person, nextAsked } = somebody();
    const permissions = new Permissions({}, person);
    const order: string[] = [];
    const permission = permissions.check([need("a")], call()).then(() => order.push("permission"));
    const asked = permissions.person
      ?.answer({ question: "?", options: [], mayChooseSeveral: false }, call())
      .then(() => order.push("question"));
    (await nextAsked()).answer({ allow: "once" });
    await Promise.all([permission, asked]);
    expect(order).toEqual(["permission", "question"]);
  });

  it("a tool call that is aborted before its question appears causes no question, and delays no other call", async () => {
    const { person, asked, nextAsked } = somebody();
    const permissions = new Permissions({}, person);
    const stop = new AbortController();
    const first = permissions.check([need("a")], call());
    const second = permissions.check([need("b")], call({ signal: stop.signal }));
    const third = permissions.check([need("c")], call());
    stop.abort(new Error("stopped"));
    await expect(second).rejects.toThrow("stopped");
    (await nextAsked()).answer({ allow: "once" });
    (await nextAsked()).answer({ allow: "once" });
    expect(await Promise.all([first, third])).toEqual([{ allowed: true }, { allowed: true }]);
    expect(asked.map(({ key }) => key)).toEqual(["a", "c"]);
  });

  it("aborting a tool call during its question lets the next question appear", async () => {
    const { person, nextAsked } = somebody();
    const permissions = new Permissions({}, person);
    const stop = new AbortController();
    const first = permissions.check([need("a")], call({ signal: stop.signal }));
    const second = permissions.check([need("b")], call());
    await nextAsked();
    stop.abort(new Error("stopped"));
    await expect(first).rejects.toThrow("stopped");
    (await nextAsked()).answer({ allow: "once" });
    expect(await second).toEqual({ allowed: true });
  });

  it("a tool call that is already aborted causes no question and is not allowed", async () => {
    const { permissions, asked } = answering({ mode: "allow-all" });
    await expect(
      permissions.check([], call({ signal: AbortSignal.abort(new Error("over")) })),
    ).rejects.toThrow("over");
    expect(asked).toEqual([]);
  });
});
