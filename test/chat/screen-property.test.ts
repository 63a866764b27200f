import fc from "fast-check";
import { expect, it } from "vitest";
import { openScreenInBuffer, type ScreenInBuffer } from "./screen-in-buffer.case.ts";

/** With words of all widths, and some longer than any row. */
const words = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "plain",
        "é",
        "e\u0301",
        "日本語",
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "\t",
        "─",
        "[x]",
        "\u001b[2J",
        "\u001b[31m",
      ),
      fc.stringMatching(/^[a-z]{1,50}$/),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(" "));

type Step =
  | { readonly do: "print" | "stream" | "status" | "type"; readonly text: string }
  | { readonly do: "endStream" | "ask" }
  | { readonly do: "key"; readonly key: string }
  | { readonly do: "activity"; readonly lines: readonly string[] }
  | { readonly do: "resize"; readonly cols: number; readonly rows: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom("print", "stream", "status", "type"), text: words }),
  },
  fc.record({ do: fc.constantFrom("endStream", "ask") }),
  fc.record({
    do: fc.constant("key" as const),
    key: fc.constantFrom("\r", "\n", "\u007f", "\u0003", "\u001b[A", "\u001b[D", "\u000c", "\u0015"),
  }),
  fc.record({ do: fc.constant("activity" as const), lines: fc.array(words, { maxLength: 3 }) }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("resize" as const),
      cols: fc.integer({ min: 12, max: 70 }),
      rows: fc.integer({ min: 9, max: 20 }),
    }),
  },
);

/** Where a wide character did not fit into a row, there is a blank in the terminal. */
const squeezed = (text: string): string => text.replace(/\s+/gu, "");

/** What was printed, in words of ours that stand nowhere else. */
class Record {
  readonly printed: string[] = [];
  #begun = "";
  #count = 0;

  line(text: string): string {
    this.#count += 1;
    return `P${this.#count}: ${text} .`;
  }

  print(line: string): void {
    this.printed.push(shown(line));
  }

  stream(line: string): string {
    const piece = this.#begun === "" ? line : ` ${line}`;
    this.#begun += piece;
    return piece;
  }

  endStream(): void {
    if (this.#begun !== "") this.printed.push(shown(this.#begun));
    this.#begun = "";
  }
}

/** What is ours to take out. */
const shown = (line: string): string =>
  squeezed(line.replaceAll("\u001b[2J", "").replaceAll("\u001b[31m", ""));

async function take(
  step: Step,
  { screen, send, resize, drawn }: ScreenInBuffer,
  record: Record,
): Promise<void> {
  if (step.do === "print") {
    const line = record.line(step.text);
    record.print(line);
    screen.print(line);
  } else if (step.do === "stream") screen.stream(record.stream(record.line(step.text)));
  else if (step.do === "endStream") {
    record.endStream();
    screen.stream("\n");
  } else if (step.do === "status") screen.setStatus((width) => `#status ${width} ${step.text}`);
  else if (step.do === "activity") screen.setActivity(() => step.lines.map((line) => `#activity ${line}`));
  else if (step.do === "type") await send(step.text.replaceAll("\u001b", ""));
  else if (step.do === "key") await send(step.key);
  else if (step.do === "resize") await resize(step.cols, step.rows);
  else {
    const abort = new AbortController();
    const title = "Which one shall it be, then?";
    void screen.choose({ title, options: [{ label: "one" }, { label: "two" }], signal: abort.signal });
    await drawn();
    abort.abort();
  }
  await drawn();
}

it("whatever happens, all that was printed is there once and in order, and the live lines are below", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const shownIn = openScreenInBuffer({ cols: 40, rows: 12 });
      const { screen, buffer } = shownIn;
      const record = new Record();
      try {
        screen.setStatus((width) => `#status ${width}`);
        await shownIn.drawn();
        for (const one of steps) {
          await take(one, shownIn, record);
          const rows = buffer.rows();
          const last = rows.findLastIndex((row) => row !== "");
          expect(rows[last]).toMatch(new RegExp(`^#status ${screen.width}`));
          expect(rows.filter((row) => row.startsWith("#status"))).toHaveLength(1);
          expect(buffer.cursor().row).toBeLessThan(last);
        }
        record.endStream();
        screen.close();
        await shownIn.drawn();
        const known = new Set(record.printed);
        expect(
          buffer
            .lines()
            .map(squeezed)
            .filter((line) => known.has(line)),
        ).toEqual(record.printed);
        expect(buffer.lines().filter((line) => line.includes("#status"))).toEqual([]);
      } finally {
        screen.close();
      }
    }),
    { numRuns: 60 },
  );
});
