import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { htmlText, withoutTags } from "./page-text.ts";

const never = new AbortController().signal;

describe("htmlText", () => {
  it("extracts text from broken HTML pages", async () => {
    for (const html of [
      "",
      "<",
      "<p>a<p>b</div></p>",
      "a &amp; b &nope; &#x110000;",
      "\ud83d<b>\udc00",
      "<p>".repeat(5_000),
    ])
      expect(typeof (await htmlText(html, never)).text).toBe("string");
    expect((await htmlText("a &amp; b<p>c", never)).text).toBe("a & b\n\nc");
  });

  it("falls back to removing the tags of a page when the conversion takes too long", async () => {
    expect((await htmlText("<p>a<b x='1'>b</b></p> c", never, 0)).text).toBe("a b c");
  });

  it("htmlText rejects when its signal is aborted", async () => {
    await expect(htmlText("<p>a", AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  });

  it("removing tags keeps all words outside the tags in order", () => {
    const word = fc.stringMatching(/^[a-z]{1,5}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.stringMatching(/^[a-z "=/]{0,9}$/))), (parts) => {
        const html = parts.map(([text, tag]) => `${text}<${tag}>`).join("");
        expect(withoutTags(html).split(/\s+/).filter(Boolean)).toEqual(parts.map(([text]) => text));
      }),
    );
  });
});
