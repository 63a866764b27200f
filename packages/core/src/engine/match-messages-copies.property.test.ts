import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiMessage } from "../messages/message.ts";
import { HostView } from "./host-view.ts";

type Text = { readonly type: "text"; readonly text: string };
const message = (...texts: readonly string[]): ApiMessage => ({
  role: "user",
  content: texts.map((text): Text => ({ type: "text", text })),
});

/** Returns the same texts, split into messages after the given indexes. */
function cut(texts: readonly string[], cuts: readonly boolean[]): readonly ApiMessage[] {
  const parts: string[][] = [[]];
  for (const [at, text] of texts.entries()) {
    parts.at(-1)?.push(text);
    if (cuts[at] === true && at < texts.length - 1) parts.push([]);
  }
  return parts.map((part) => message(...part));
}

const textsOf = ({ content }: ApiMessage): readonly string[] =>
  (content as readonly Text[]).map(({ text }) => text);

describe("a host that splits its list differently and replaces a message", () => {
  it("recognizes a message as a copy of a known message only if both contain the same text", () => {
    const cuts = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(cuts, cuts, fc.integer({ min: 1, max: 6 }), (first, second, rewritten) => {
        const texts = ["a", "b", "c", "d", "e", "f"];
        const own = cut(texts, first);
        const view = new HostView();
        view.start(own);
        view.replace(cut(texts.slice(0, rewritten), second));
        view.replace([message("summary")]);
        for (const last of ["one", "other"]) {
          const reading = view.read([...own, message(last), message("end")]);
          for (const { message: copy, original } of reading.kind === "other" ? [] : reading.copies) {
            const known = new Set(textsOf(original as ApiMessage));
            expect(textsOf(copy as ApiMessage).some((text) => known.has(text))).toBe(true);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
