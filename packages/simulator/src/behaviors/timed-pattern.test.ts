import { describe, expect, it } from "vitest";
import { HEADERS } from "../server/client.case.ts";
import { startSimulator } from "../simulator.ts";
import { conforms } from "./schema/schema.ts";
import { parseScript } from "./script-file.ts";
import { findsInTime } from "./timed-pattern.ts";

const SLOW = "^(a+)+$";
const UNLUCKY = `${"a".repeat(50)}!`;

describe("patterns that need exponential time", () => {
  it("a search has no result if it takes too long, and its result otherwise", () => {
    expect(findsInTime(new RegExp(SLOW), UNLUCKY)).toBeUndefined();
    expect(findsInTime(new RegExp(SLOW), "aaa")).toBe(true);
    expect(findsInTime(/^(ab)*$/i, "ABab")).toBe(true);
    expect(findsInTime(/^(ab)*$/, "abc")).toBe(false);
    const global = /b/g;
    expect([findsInTime(global, "ab"), findsInTime(global, "ab")]).toEqual([true, true]);
  });

  it("a pattern in a tool schema that takes too long does not make a value invalid", () => {
    expect(conforms(UNLUCKY, { type: "string", pattern: SLOW })).toBe(true);
    expect(conforms("b", { type: "string", pattern: SLOW })).toBe(false);
  });

  it("a pattern in a script that takes too long ends the call with an error that names it, not the simulator", async () => {
    const simulator = await startSimulator();
    simulator.reply(...parseScript([{ blocks: ["Yes."], when: { lastMessage: { pattern: SLOW } } }]));
    const ask = (content: string): Promise<Response> =>
      fetch(`${simulator.url}/v1/messages`, {
        method: "POST",
        headers: HEADERS,
        body: JSON.stringify({
          model: "claude-sonnet-5",
          max_tokens: 100,
          messages: [{ role: "user", content }],
        }),
      });
    const failed = await ask(UNLUCKY);
    expect(failed.status).toBe(500);
    expect(await failed.text()).toContain("the pattern /^(a+)+$/ takes longer than 200 ms");
    expect(await (await ask("aaa")).text()).toContain("Yes.");
    await simulator.close();
  });
});
