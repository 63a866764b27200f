import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type KeyPress, listenToKeys } from "./keys.ts";

async function pressesOf(...chunks: readonly string[]): Promise<readonly string[]> {
  const input = new PassThrough();
  const presses: string[] = [];
  const name = (press: KeyPress): string =>
    press.type === "key" ? `<${press.name}>` : press.type === "paste" ? `paste(${press.text})` : press.text;
  const release = listenToKeys(input, (press) => presses.push(name(press)));
  for (const chunk of chunks) {
    input.write(chunk);
    await nextTurn();
  }
  release();
  return presses;
}

describe("listenToKeys", () => {
  it("reports keys by name, and typed characters as text", async () => {
    const typed = "a é日\r\n\u007f\u0003\u0017\u001b[A\u001bOB\u001b[1;5D\u001bb\u001b\r\u001b[13;2u\u001b[Z";
    expect((await pressesOf(typed)).join("")).toBe(
      "a é日<enter><ctrl-j><backspace><ctrl-c><ctrl-w><up><down><ctrl-left><alt-b><alt-enter><alt-enter><shift-tab>",
    );
  });

  it("ignores unknown keys and replies of the terminal", async () => {
    expect(await pressesOf("\u001b[I\u001b[99~\u001c\u001f")).toEqual([]);
  });

  it("joins the parts of a character or an escape sequence that arrive separately", async () => {
    const bytes = Buffer.from("日");
    const input = new PassThrough();
    const presses: KeyPress[] = [];
    listenToKeys(input, (press) => presses.push(press));
    for (const part of [bytes.subarray(0, 1), bytes.subarray(1), "\u001b[", "A"]) {
      input.write(part);
      await nextTurn();
    }
    expect(presses).toEqual([
      { type: "text", text: "日" },
      { type: "key", name: "up" },
    ]);
  });

  it("treats keys inside a paste as text until the paste ends or the person presses Ctrl-C", async () => {
    expect(await pressesOf("\u001b[200~one\rtwo\t\u001b[A", "x\u001b[201~y")).toEqual([
      "paste(one\rtwo\t\u001b[Ax)",
      "y",
    ]);
    expect(await pressesOf("\u001b[200~one\u0003")).toEqual(["paste(one)", "<ctrl-c>"]);
  });
});
