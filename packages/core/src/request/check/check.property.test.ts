import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { arbitraryRequest } from "../../../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import type { ApiRequest, ContentBlock } from "../../messages/message.ts";
import { checkRequest, RULES } from "./check.ts";
import { checkSettings, Draft, readMessages } from "./rule.ts";

const RUNS = { numRuns: 500 };

describe("checkRequest with any request", () => {
  it("checkRequest never returns a request that breaks a rule of the API", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        expect(apiRuleViolations(checkRequest(request).request.messages, request)).toEqual([]);
      }),
      RUNS,
    );
  });

  it("checkRequest finds nothing more to repair in a request that it has checked", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const first = checkRequest(request).request;
        const second = checkRequest(first);
        expect(second.findings.filter((finding) => finding.action !== "reported")).toEqual([]);
        expect(second.request).toBe(first);
      }),
      RUNS,
    );
  });

  it("checkRequest never modifies the given request object", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => void checkRequest(deepFreeze(request))),
      RUNS,
    );
  });

  it("checkRequest returns the given request object exactly when it reports no change", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const { request: after, findings } = checkRequest(request);
        const hasChange = findings.some((finding) => finding.action !== "reported");
        expect(after === request).toBe(!hasChange);
      }),
      RUNS,
    );
  });

  it("findings of checkRequest name only paths that exist in the given request", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        for (const { path } of checkRequest(request).findings) expect(resolves(request, path)).toBe(true);
      }),
      RUNS,
    );
  });

  it("checkRequest never changes a thinking block, unless it reports that it removed a cache mark", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const { request: after, findings } = checkRequest(request);
        if (findings.some(({ rule }) => rule === "cache-mark-on-thinking")) return;
        const given = new Set(blocksOf(request));
        for (const block of blocksOf(after))
          if (block.type === "thinking") expect(given.has(block)).toBe(true);
      }),
      RUNS,
    );
  });

  it("a checked request never has more than four cache marks or a one-hour mark after a five-minute mark", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const times = cacheTimes(checkRequest(request).request);
        expect(times.length).toBeLessThanOrEqual(4);
        expect(times.lastIndexOf("1h")).toBeLessThanOrEqual(
          times.indexOf("5m") < 0 ? 99 : times.indexOf("5m"),
        );
      }),
      RUNS,
    );
  });

  it("each rule reports only findings with the names that the rule table lists for that rule", () => {
    const listed = RULES.flatMap(({ reports }) => reports);
    expect(new Set(listed).size).toBe(listed.length);
    const settings = checkSettings({ maxMedia: 2, maxRequestBytes: 2_000, requireTools: true });
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const draft = new Draft(request);
        draft.messages = readMessages(draft, request.messages);
        for (const { apply, reports } of RULES) {
          const { length } = draft.findings;
          apply(draft, settings);
          for (const { rule } of draft.findings.slice(length)) expect(reports).toContain(rule);
        }
      }),
      RUNS,
    );
  });
});

function resolves(request: ApiRequest, path: string): boolean {
  let value: unknown = request;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !(key in value)) return false;
    value = (value as Record<string, unknown>)[key];
  }
  return true;
}

function blocksOf(request: ApiRequest): ContentBlock[] {
  const contents = request.messages.map((message) => (message === null ? undefined : message.content));
  return contents.flatMap((content) =>
    Array.isArray(content) ? content.filter((item) => item !== null) : [],
  );
}

/** Lists lifetimes in the API's order: tools, system, messages with nested blocks, automatic mark. */
function cacheTimes(request: ApiRequest): string[] {
  const holders = [
    request.tools ?? [],
    request.system ?? [],
    blocksOf(request).flatMap(withNested),
    [request],
  ];
  return holders.flat().flatMap((holder) => {
    const control = (holder as { cache_control?: { ttl?: string } | null }).cache_control;
    return control ? [control.ttl ?? "5m"] : [];
  });
}

function withNested(block: ContentBlock): ContentBlock[] {
  return block.type === "tool_result" && Array.isArray(block.content) ? [...block.content, block] : [block];
}
