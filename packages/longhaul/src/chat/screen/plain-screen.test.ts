import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { EARLY_MS } from "./choice.ts";
import { PlainScreen } from "./plain-screen.ts";
import type { Chosen } from "./screen.ts";

const nothing = (): void => undefined;

it("accepts a number for a permission question only as a single line, not in a paste of several lines", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  let [now, printed] = [0, ""];
  output.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const screen = new PlainScreen({
    input: input as unknown as NodeJS.ReadStream,
    output: output as unknown as NodeJS.WriteStream,
    environment: {},
    now: () => now,
    handlers: {
      ...{ submitted: nothing, interrupted: nothing, escaped: nothing, ended: nothing, unfold: nothing },
      complete: () => [],
    },
  });
  try {
    const answers: (Chosen | undefined)[] = [];
    const options = [{ label: "Yes" }, { label: "No" }];
    void screen.choose({ title: "Run it?", options, grants: true }).then((chosen) => answers.push(chosen));
    now += EARLY_MS;
    input.write("1\nfoo\n");
    await vi.waitFor(() => expect(printed).toContain("ignored several lines that came at once"));
    now += EARLY_MS;
    input.write("always\n");
    await vi.waitFor(() => expect(printed).toContain("Please answer with"));
    expect(answers).toEqual([]);
    now += EARLY_MS;
    input.write("1\n");
    await vi.waitFor(() => expect(answers).toEqual([{ picked: [0] }]));
  } finally {
    screen.close();
  }
});
