import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { htmlText, withoutTags } from "./page-text.ts";

const never = new AbortController().signal;

describe("the text of HTML", () => {
  it("is had of pages that are broken in every way", async () => {
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

  it("of a page that takes too long is what stands outside its tags", async () => {
    expect((await htmlText("<p>a<b x='1'>b</b></p> c", never, 0)).text).toBe("a b c");
  });

  it("ends with the call that is aborted", async () => {
    await expect(htmlText("<p>a", AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  });

  it("with tags struck out holds all words outside of them, in order", () => {
    const word = fc.stringMatching(/^[a-z]{1,5}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.stringMatching(/^[a-z "=/]{0,9}$/))), (parts) => {
        const html = parts.map(([text, tag]) => `${text}<${tag}>`).join("");
        expect(withoutTags(html).split(/\s+/).filter(Boolean)).toEqual(parts.map(([text]) => text));
      }),
    );
  });
});
