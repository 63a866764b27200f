import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REPLAY_POLICIES, type ReplayPolicyName } from "../policy.ts";
import { replayChart } from "./chart.ts";
import { BreakdownTracker } from "./cost-breakdown.ts";
import { shortDollars, shortTokens, ticksTo } from "./plot.ts";
import type { PolicyReplay, Replay } from "./replay-result.ts";
import { element, text } from "./svg.ts";

/** Returns the names of all XML elements. Throws if tags do not match or a character is not escaped. */
function elementsIn(xml: string): readonly string[] {
  const names: string[] = [];
  const open: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "").trimEnd();
  let end = 0;
  for (const match of body.matchAll(/<(\/?)([a-zA-Z]+)((?: [a-zA-Z0-9-]+="[^"<]*")*)(\/?)>/g)) {
    checkText(body.slice(end, match.index), open.length);
    const [whole, closing, name = "", attributes = "", alone] = match;
    checkText(attributes.replaceAll('"', ""), 1);
    if (closing) expect(open.pop()).toBe(name);
    else names.push(name);
    if (!closing && !alone) open.push(name);
    end = match.index + whole.length;
  }
  expect(open).toEqual([]);
  expect(body.slice(end)).toBe("");
  return names;
}

function checkText(content: string, depth: number): void {
  if (depth === 0) expect(content).toBe("");
  expect(content).not.toMatch(/[<>]|&(?!(?:amp|lt|gt|quot);)/);
}

const policyOf = (policy: ReplayPolicyName, sizes: readonly number[]): PolicyReplay => ({
  policy,
  cost: { total: sizes.length / 10, summaries: 0 },
  breakdown: new BreakdownTracker(() => 0).sums,
  tokens: { plain: 0, written: 0, read: 0, output: 0 },
  summaryCalls: 0,
  compactions: 1,
  clearings: 0,
  stallMs: 1_500,
  cacheBreaks: 1,
  refusedCalls: 0,
  peakTokens: Math.max(0, ...sizes),
  lastTokens: sizes.at(-1) ?? 0,
  probesKept: 3,
  turns: sizes.map((tokens, index) => ({ tokens, cost: index / 10, isRewritten: index % 9 === 8 })),
});

const replayOf = (id: string, policies: readonly PolicyReplay[]): Replay => ({
  session: { id, path: "/secret/place/session.jsonl", model: "claude-sonnet-5" },
  window: { size: 50_000, origin: "option", autoCompact: 33_500 },
  pricesOf: "claude-sonnet-5",
  arePricesAssumed: false,
  cacheTtl: "5m",
  overhead: { tokens: 10_000, recorded: null },
  tokenRatio: 1.3,
  calls: 30,
  probes: 5,
  policies,
  comparison: null,
});

const sizes = Array.from({ length: 30 }, (_, index) => 10_000 + (index % 9) * 3_000);
const all = REPLAY_POLICIES.map((policy) => policyOf(policy, sizes));

describe("replayChart", () => {
  it("draws a complete SVG document with a title, two plots, a line per policy and a legend", () => {
    const svg = replayChart(replayOf("abc", all));
    const names = elementsIn(svg);
    expect(names[0]).toBe("svg");
    expect(names.filter((name) => name === "polyline")).toHaveLength(2 * all.length);
    expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"');
    for (const words of ["Session abc", "Tokens in the context", "Dollars so far", "model calls"]) {
      expect(svg).toContain(words);
    }
    for (const policy of REPLAY_POLICIES) expect(svg).toContain(`>${policy}<`);
    expect(svg).toContain("full at 34K");
  });

  it("draws a chart that adapts to light and dark color schemes", () => {
    expect(replayChart(replayOf("abc", all))).toContain("@media (prefers-color-scheme:dark)");
  });

  it("marks calls with a rewritten history in the chart, unless every call has a rewritten history", () => {
    const marked = replayChart(replayOf("abc", [policyOf("longhaul", sizes)]));
    expect(elementsIn(marked).filter((name) => name === "circle")).toHaveLength(3);
    const sliding = policyOf("keep-last", sizes);
    const turns = sliding.turns.map((turn) => ({ ...turn, isRewritten: true }));
    const busy = replayChart(replayOf("abc", [{ ...sliding, turns }]));
    expect(elementsIn(busy)).not.toContain("circle");
  });

  it("draws several sessions below each other without repeating an element id", () => {
    const svg = replayChart([replayOf("one", all), replayOf("two", all)]);
    const ids = [...svg.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(elementsIn(svg).filter((name) => name === "polyline")).toHaveLength(4 * all.length);
    expect(svg).toMatch(/Session one[\s\S]*Session two/);
  });

  it("leaves the path of the session out of the chart", () => {
    expect(replayChart(replayOf("abc", all))).not.toContain("secret");
  });

  it("draws well-formed SVG without NaN or Infinity for any session id and any token counts", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.array(fc.nat({ max: 2_000_000 }), { maxLength: 40 }),
        fc.subarray([...REPLAY_POLICIES]),
        (id, tokens, names) => {
          const svg = replayChart(
            replayOf(
              id,
              names.map((name) => policyOf(name, tokens)),
            ),
          );
          elementsIn(svg);
          expect(svg).not.toContain("NaN");
          expect(svg).not.toContain("Infinity");
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("SVG fragments", () => {
  it("escapes markup in SVG text and attributes, and removes characters that XML cannot represent", () => {
    const { markup } = element("text", { class: 'a"><script>' }, [text("<b>&\u0000\u001b")]);
    expect(markup).toBe('<text class="a&quot;&gt;&lt;script&gt;">&lt;b&gt;&amp;</text>');
  });
});

describe("axes of a plot", () => {
  it("places axis ticks at round numbers from 0 up to the largest value", () => {
    expect(ticksTo(38_000)).toEqual([0, 10_000, 20_000, 30_000]);
    expect(ticksTo(6.1)).toEqual([0, 2, 4, 6]);
    expect(ticksTo(0)).toEqual([0]);
  });

  it("formats tokens and dollars on an axis in short form", () => {
    expect([0, 812, 2_500, 33_500, 1_250_000].map(shortTokens)).toEqual(["0", "812", "2.5K", "34K", "1.3M"]);
    expect([0, 0.5, 12.345, 222.8].map(shortDollars)).toEqual(["$0.00", "$0.50", "$12.35", "$223"]);
  });
});
