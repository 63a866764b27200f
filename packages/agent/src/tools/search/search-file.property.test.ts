import fc from "fast-check";
import { expect, it } from "vitest";
import { Excerpt } from "./search-file.ts";

const lines = fc.array(fc.constantFrom("hit", "miss", "other"), { maxLength: 30 });
const around = fc.nat(4);

it("an excerpt contains every line near a match once, in order, up to its maximum number of rows", () => {
  fc.assert(
    fc.property(lines, around, around, fc.nat(20), (text, before, after, mostRows) => {
      const excerpt = new Excerpt({ before, after, mostRows });
      for (const line of text) excerpt.add(line, line === "hit" ? [0, 3] : undefined);
      const hits = text.flatMap((line, at) => (line === "hit" ? [at] : []));
      const wanted = text.flatMap((line, at) =>
        hits.some((hit) => at >= hit - before && at <= hit + after)
          ? [{ number: at + 1, text: line, isMatch: line === "hit" }]
          : [],
      );
      expect(excerpt.matches).toBe(hits.length);
      // Each match includes the lines before it, so there can be a few more rows.
      expect(excerpt.rows.length).toBeLessThanOrEqual(mostRows + before);
      expect(excerpt.rows).toEqual(wanted.slice(0, excerpt.rows.length));
      if (wanted.length > excerpt.rows.length) expect(excerpt.rows.length).toBeGreaterThanOrEqual(mostRows);
    }),
  );
});

it("an excerpt cuts a long line around its match without splitting a character", () => {
  fc.assert(
    fc.property(fc.nat(2_000), fc.nat(2_000), (before, after) => {
      const line = `${"😀".repeat(before)}needle${"é".repeat(after)}`;
      const excerpt = new Excerpt({ before: 0, after: 0, mostRows: 1 });
      excerpt.add(line, [2 * before, 2 * before + 6]);
      const [row] = excerpt.rows;
      expect(row?.text).toContain("needle");
      expect(row?.text.length).toBeLessThanOrEqual(402);
      expect(row?.text.isWellFormed()).toBe(true);
      expect(line).toContain(row?.text.replaceAll("…", ""));
    }),
  );
});
