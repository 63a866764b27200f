import { todoList } from "../tools.ts";
import { runTests, type Stage } from "./stage.ts";

const REQUEST = `Last piece for today: rate limiting for the public GET /v1/availability.

- 60 requests per minute and API key (header x-api-key; no key counts as one shared key "anonymous")
- over the limit: 429 as problem+json with Retry-After in whole seconds
- in memory for now, but behind a small port so that we can put Redis there later
- tests with ManualClock, no sleeping
- then openapi.json (429 and the header) and a paragraph in the README

No other endpoint gets it. When wiring it into src/server.ts keep the response body of availability exactly as it is.`;

const STEPS = [
  [
    "Write the RateLimiter port and the in-memory limiter",
    "Writing the RateLimiter port and the in-memory limiter",
  ],
  ["Test the limiter with ManualClock", "Testing the limiter with ManualClock"],
  [
    "Wire the limiter into GET /v1/availability in src/server.ts",
    "Wiring the limiter into GET /v1/availability",
  ],
  ["Describe 429 and x-api-key in openapi.json", "Describing 429 and x-api-key in openapi.json"],
  ["Add a paragraph on rate limits to README.md", "Adding a paragraph on rate limits to README.md"],
] as const;

const LIMITER = `import type { Clock } from "../clock.ts";

export type Admission =
  | { readonly kind: "admitted"; readonly left: number }
  | { readonly kind: "refused"; readonly retryAfterSeconds: number };

/** The port. An implementation on Redis would have to answer asynchronously, so this one does too. */
export interface RateLimiter {
  admit(key: string): Promise<Admission>;
}

export interface Limit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** Sliding window: remembers when each admitted request came and forgets it when the window has passed. */
export class MemoryRateLimiter implements RateLimiter {
  private readonly admitted = new Map<string, number[]>();

  constructor(
    private readonly clock: Clock,
    private readonly limit: Limit,
  ) {}

  async admit(key: string): Promise<Admission> {
    const now = this.clock.now().getTime();
    const windowMs = this.limit.windowSeconds * 1000;
    const recent = (this.admitted.get(key) ?? []).filter((at) => at >= now - windowMs);
    const [oldest = now] = recent;
    if (recent.length >= this.limit.requests) {
      return { kind: "refused", retryAfterSeconds: Math.ceil((oldest + windowMs - now) / 1000) };
    }
    this.admitted.set(key, [...recent, now]);
    return { kind: "admitted", left: this.limit.requests - recent.length - 1 };
  }
}
`;

const LIMITER_TEST = `import { describe, expect, it } from "vitest";
import { ManualClock } from "../src/clock.ts";
import { MemoryRateLimiter } from "../src/http/rate-limit.ts";

const start = () => new ManualClock(new Date("2026-03-30T12:00:00Z"));
const LIMIT = { requests: 3, windowSeconds: 60 };

describe("MemoryRateLimiter", () => {
  it("admits as many as the limit says and tells how many are left", async () => {
    const limiter = new MemoryRateLimiter(start(), LIMIT);
    const left = [await limiter.admit("a"), await limiter.admit("a"), await limiter.admit("a")];
    expect(left).toEqual([2, 1, 0].map((each) => ({ kind: "admitted", left: each })));
    expect(await limiter.admit("a")).toEqual({ kind: "refused", retryAfterSeconds: 60 });
  });

  it("counts each key for itself", async () => {
    const limiter = new MemoryRateLimiter(start(), { ...LIMIT, requests: 1 });
    await limiter.admit("a");
    expect(await limiter.admit("b")).toEqual({ kind: "admitted", left: 0 });
  });

  it("admits again exactly when Retry-After has passed", async () => {
    const clock = start();
    const limiter = new MemoryRateLimiter(clock, { ...LIMIT, requests: 1 });
    await limiter.admit("a");
    clock.advance(1);
    expect(await limiter.admit("a")).toEqual({ kind: "admitted", left: 0 });
  });
});
`;

/** The request that is still open when the session ends. */
export function rateLimit(stage: Stage): void {
  const { recorder, tools, workspace } = stage;
  recorder.pause(9);
  recorder.human(REQUEST);
  const start = workspace.lineOf("src/server.ts", '"/v1/availability"') - 9;
  recorder.respond({
    calls: [tools.todos(todoList(STEPS, 0)), tools.read("src/server.ts", { offset: start, limit: 24 })],
  });
  recorder.respond({
    text: "The limiter knows nothing of HTTP; the route will translate its answer.",
    calls: [
      tools.write("src/http/rate-limit.ts", LIMITER),
      tools.write("test/rate-limit.test.ts", LIMITER_TEST),
    ],
  });
  const test = "test/rate-limit.test.ts";
  const failure = {
    path: test,
    title: "MemoryRateLimiter > admits again exactly when Retry-After has passed",
    error:
      "expected { kind: 'refused', retryAfterSeconds: +0 } to deeply equal { kind: 'admitted', left: +0 }",
    difference: [
      "  {",
      '-   "kind": "admitted",',
      '-   "left": 0,',
      '+   "kind": "refused",',
      '+   "retryAfterSeconds": 0,',
      "  }",
    ],
    at: "clock.advance(1);",
  };
  recorder.respond({ calls: [tools.todos(todoList(STEPS, 1)), runTests(stage, [test], [failure])] });
  recorder.attachment({ type: "task_reminder", content: todoList(STEPS, 1), itemCount: STEPS.length });
  recorder.respond({
    thinking:
      "The client is told to wait 60 s and at exactly 60 s it is still refused, with Retry-After 0: the filter keeps a request whose age equals the window. It must be strictly younger: at > now - windowMs.",
    text: "A request that is exactly one window old still counts, so a client that obeys Retry-After is refused once more. Strictly younger is right.",
    calls: [
      tools.edit("src/http/rate-limit.ts", "at >= now - windowMs", "at > now - windowMs"),
      runTests(stage, [test]),
      tools.todos(todoList(STEPS, 2)),
    ],
  });
  recorder.respond({
    text: 'The limiter is done and its three tests are green; the boundary is fixed in `MemoryRateLimiter.admit`. Nothing is committed yet. Next I wire it into `GET /v1/availability` in `src/server.ts` (60 per 60 s, key from `x-api-key`, else "anonymous"), answering 429 as problem+json with Retry-After and leaving the body of a good answer as it is. After that come openapi.json and the README.',
  });
}
