import { describe, expect, it, vi } from "vitest";
import { QUIET_MS } from "../../packages/longhaul/src/chat/screen/choice.ts";
import type { Choice } from "../../packages/longhaul/src/chat/screen/screen.ts";
import {
  openScreenInBuffer,
  type ScreenInBuffer,
  type ScreenInBufferOptions,
} from "./screen-in-buffer.case.ts";

async function withScreen(
  work: (shown: ScreenInBuffer) => Promise<void>,
  options: ScreenInBufferOptions = {},
): Promise<void> {
  const shown = openScreenInBuffer(options);
  try {
    shown.screen.setStatus(() => "status");
    await shown.drawn();
    await work(shown);
  } finally {
    shown.screen.close();
  }
}

/** Returns the rows without trailing empty ones. */
const rowsOf = ({ buffer }: ScreenInBuffer): readonly string[] =>
  buffer.rows().join("\n").trimEnd().split("\n");
const UP = "\u001b[A";
const DOWN = "\u001b[B";
const ENTER = "\r";
const question: Choice = { title: "Really?", options: [{ label: "Yes", key: "y" }, { label: "No" }] };

describe("the input line of the chat", () => {
  it("Enter sends the whole input line, and the history keeps it", () =>
    withScreen(async (shown) => {
      await shown.send("é日本語 👩\u200d👩\u200d👧\r");
      expect(shown.told).toEqual(["submitted é日本語 👩\u200d👩\u200d👧"]);
      await shown.send("  \r");
      await shown.send(UP);
      expect(rowsOf(shown)).toEqual(["> é日本語 👩\u200d👩\u200d👧", "status"]);
      expect(shown.told).toHaveLength(1);
    }));

  it("Alt-Enter, Ctrl-J and a backslash at the end of a line start a new line in the input", () =>
    withScreen(async (shown) => {
      await shown.send("one\u001b\r");
      await shown.send("two\nthree\\\rfour");
      expect(rowsOf(shown)).toEqual(["> one", "  two", "  three", "  four", "status"]);
      await shown.send("\r");
      expect(shown.told).toEqual(["submitted one\ntwo\nthree\nfour"]);
    }));

  it("the input uses as many rows as it needs, and the cursor is where the next letter appears", () =>
    withScreen(
      async (shown) => {
        await shown.send("abcdefghijklmnopqrstuvwxyz");
        expect(rowsOf(shown)).toEqual(["> abcdefghijklmnopq", "  rstuvwxyz", "status"]);
        expect(shown.buffer.cursor()).toEqual({ row: 1, column: 11 });
        await shown.send("\u0001日");
        expect(rowsOf(shown)[0]).toBe("> 日abcdefghijklmno");
        expect(shown.buffer.cursor()).toEqual({ row: 0, column: 4 });
      },
      { cols: 20 },
    ));

  it("the screen shows the rows around the cursor when the input is too tall", () =>
    withScreen(
      async (shown) => {
        await shown.send(Array.from({ length: 30 }, (_, line) => `row ${line}`).join("\n"));
        expect(rowsOf(shown)).toEqual(["… row 30 of 30", "  row 27", "  row 28", "  row 29", "status"]);
      },
      { rows: 10 },
    ));

  it("the input line shows a long paste as one short item, and Enter sends the whole paste", () =>
    withScreen(async (shown) => {
      const lines = Array.from({ length: 42 }, (_, line) => `line ${line}`);
      await shown.send(`see \u001b[200~${lines.join("\r")}\u001b[201~ ok`);
      expect(rowsOf(shown)).toEqual(["> see [pasted 42 lines] ok", "status"]);
      await shown.send("\r");
      expect(shown.told).toEqual([`submitted see ${lines.join("\n")} ok`]);
    }));

  it("Tab completes slash commands and lists the candidates", () =>
    withScreen(
      async (shown) => {
        await shown.send("/c");
        expect(rowsOf(shown)).toEqual(["> /c", "  /compact  /context  /cost", "status"]);
        await shown.send("om");
        await shown.send("\t");
        expect(rowsOf(shown)).toEqual(["> /compact", "status"]);
        await shown.send("\u0015/\t");
        expect(rowsOf(shown)[0]).toBe("> /co");
      },
      { complete: (text) => ["/compact", "/context", "/cost"].filter((name) => name.startsWith(text)) },
    ));
});

describe("keys that interrupt or end the chat", () => {
  it("Ctrl-C clears the input, and interrupts the run when the input is empty", () =>
    withScreen(async (shown) => {
      await shown.send("text");
      await shown.send("\u0003");
      expect([rowsOf(shown), shown.told]).toEqual([[">", "status"], []]);
      await shown.send("\u0003");
      expect(shown.told).toEqual(["interrupted"]);
    }));

  it("Esc is reported to the chat and keeps the input", () =>
    withScreen(async (shown) => {
      await shown.send("text");
      await shown.send("\u001b");
      await vi.waitFor(() => expect(shown.told).toEqual(["escaped"]));
      expect(rowsOf(shown)).toEqual(["> text", "status"]);
    }));

  it("Ctrl-D on an empty input ends the chat once, and Ctrl-O unfolds the last item", () =>
    withScreen(async (shown) => {
      await shown.send("ab\u0001\u0004");
      expect(rowsOf(shown)[0]).toBe("> b");
      await shown.send("\u0003\u000f\u0004\u0004");
      expect(shown.told).toEqual(["unfold", "ended"]);
    }));
});

describe("questions on the screen", () => {
  it("a question replaces the input line, and the typed text comes back afterwards", () =>
    withScreen(
      async (shown) => {
        const answer = shown.screen.choose({ ...question, detail: "rm -rf \u001b[8mhidden" });
        await shown.drawn();
        expect(rowsOf(shown)).toEqual([
          "Really?",
          "  rm -rf hidden",
          "> 1. Yes (y)",
          "  2. No",
          "Enter or a number · Esc declines",
          "status",
        ]);
        await shown.send("2");
        expect([await answer, rowsOf(shown)]).toEqual([{ picked: [1] }, [">", "status"]]);
      },
      { cols: 60 },
    ));

  it("letters of a user who is still typing do not answer a question", () =>
    withScreen(async (shown) => {
      await shown.send("ma");
      const answer = shown.screen.choose(question);
      await shown.send("y");
      // The user has paused, so the next key answers the question.
      shown.wait(2000);
      await shown.send("2");
      expect(await answer).toEqual({ picked: [1] });
      expect(rowsOf(shown)[0]).toBe("> may");
    }));

  it("a question waits for the previous question, and ends when its signal aborts or the screen closes", () =>
    withScreen(async (shown) => {
      const abort = new AbortController();
      const answers = [question, { ...question, signal: abort.signal }, question].map((one) =>
        shown.screen.choose(one),
      );
      await shown.send("y");
      abort.abort();
      expect(await Promise.all(answers.slice(0, 2))).toEqual([{ picked: [0] }, undefined]);
      await shown.drawn();
      expect(rowsOf(shown)[0]).toBe("Really?");
      shown.screen.close();
      expect(await answers[2]).toBeUndefined();
    }));

  it("Ctrl-O shows the full detail of a question", () =>
    withScreen(async (shown) => {
      const detail = Array.from({ length: 40 }, (_, line) => `detail ${line}`).join("\n");
      void shown.screen.choose({ ...question, detail });
      await shown.drawn();
      expect(shown.buffer.rows().join()).toContain("left out, Ctrl-O shows all");
      await shown.send("\u000f");
      expect(shown.buffer.lines()).toContain("detail 39");
      expect(shown.told).toEqual([]);
    }));
});

describe("permission questions on the screen", () => {
  const grant: Choice = { ...question, otherLabel: "No, and say why", grants: true };
  const opened = async (shown: ScreenInBuffer, choice: Choice = grant): Promise<() => unknown> => {
    let answer: unknown = "open";
    void shown.screen.choose(choice).then((chosen) => {
      answer = chosen;
    });
    await shown.drawn();
    return () => answer;
  };
  const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`;

  it("a question that grants a permission shows its options without shortcut keys and says how to answer", () =>
    withScreen(async (shown) => {
      await opened(shown);
      expect(rowsOf(shown)).toEqual([
        "Really?",
        "  Yes",
        "  No",
        "  No, and say why",
        "↑ ↓, then Enter · Esc declines",
        "status",
      ]);
    }));

  it.each(["what", "always", "y", "1", "a\r", "/comp\t", "1\n2\n", paste("what"), paste("always\r1\r")])(
    "typing %j and Enter does not answer a question that grants a permission",
    (keys) =>
      withScreen(async (shown) => {
        const answer = await opened(shown);
        shown.wait(500);
        await shown.send(keys);
        expect(rowsOf(shown).at(-2)).toBe("Typing has no effect. ↑ ↓, then Enter");
        await shown.send(ENTER);
        await shown.send(keys + ENTER);
        expect(answer()).toBe("open");
        await shown.send(DOWN);
        expect(rowsOf(shown)[1]).toBe("> Yes");
        shown.wait(QUIET_MS);
        await shown.send(ENTER);
        expect(answer()).toEqual({ picked: [0] });
        expect(shown.told).toEqual([]);
      }),
  );

  it("a permission question ignores arrows and Enter for half a second, but not Ctrl-C", () =>
    withScreen(async (shown) => {
      const first = await opened(shown);
      shown.wait(499);
      await shown.send(DOWN);
      await shown.send(ENTER);
      expect(first()).toBe("open");
      await shown.send("\u0003");
      expect(first()).toBeUndefined();
    }));

  it("an arrow and Enter that arrive together, as in a paste, do not answer a permission question", () =>
    withScreen(async (shown) => {
      const answer = await opened(shown);
      shown.wait(500);
      await shown.send(`${DOWN}${ENTER}`);
      await shown.send(ENTER);
      expect(answer()).toBe("open");
    }));

  it("a double Enter does not answer the next question", () =>
    withScreen(async (shown) => {
      const answers = [await opened(shown), await opened(shown)];
      shown.wait(500);
      await shown.send(DOWN);
      shown.wait(QUIET_MS);
      await shown.send(ENTER);
      await shown.send(DOWN);
      await shown.send(ENTER);
      expect(answers.map((answer) => answer())).toEqual([{ picked: [0] }, "open"]);
    }));

  it("Ctrl-O shows the whole long title of a question, even if the question has no detail", () =>
    withScreen(async (shown) => {
      const path = `/${"deep/".repeat(200)}id_rsa`;
      await opened(shown, { ...grant, title: `Read ${path}` });
      expect(rowsOf(shown).join("\n")).toMatch(/left out, Ctrl-O shows all[\s\S]*id_rsa/);
      await shown.send("\u000f");
      expect(shown.buffer.lines()).toContain(`Read ${path}`);
      expect(shown.told).toEqual([]);
    }));

  it("Ctrl-O unfolds the last tool call when the whole question is visible", () =>
    withScreen(async (shown) => {
      await opened(shown);
      await shown.send("\u000f");
      expect(shown.told).toEqual(["unfold"]);
    }));
});

describe("colors and the state of the terminal", () => {
  it("the screen prints no colors when colors are off", () =>
    withScreen(
      async (shown) => {
        shown.screen.print("\u001b[31mred\u001b[39m");
        shown.screen.print(shown.screen.colors.green("green"));
        void shown.screen.choose({ ...question, detail: "a\n".repeat(40) });
        await shown.send("/x");
        expect(shown.bytes()).not.toMatch(/\[[\d;]*m/);
      },
      { environment: { NO_COLOR: "1", TERM: "xterm" } },
    ));

  it("closing the screen, once or twice, restores the terminal", async () => {
    const shown = openScreenInBuffer();
    shown.screen.stream("begun");
    await shown.drawn();
    expect([shown.isRaw(), rowsOf(shown)]).toEqual([true, ["begun", ">"]]);
    shown.screen.close();
    shown.screen.close();
    shown.screen.print("after");
    await shown.drawn();
    expect([shown.isRaw(), rowsOf(shown)]).toEqual([false, ["begun", "after"]]);
    expect(shown.bytes().split("\u001b[?2004l")).toHaveLength(2);
    expect(shown.bytes()).not.toMatch(/\[[23]J|\[\?1049/);
  });
});
