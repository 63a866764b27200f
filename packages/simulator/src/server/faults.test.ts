import { describe, expect, it } from "vitest";
import { refusalOf } from "../anthropic/answer/status-faults.ts";
import { requireFault } from "./fault-file.ts";
import { type Fault, type FaultCandidate, Faults } from "./faults.ts";

const candidate: FaultCandidate = { endpoint: "messages", body: {}, isStream: true, index: 0 };

describe("Faults, the list of faults that tests have set", () => {
  it("applies each fault as often as the test asks for, in the order in which the faults were set", () => {
    const faults = new Faults(1);
    faults.arm(529, { times: 2 });
    faults.arm(500);
    const struck = Array.from({ length: 4 }, () => faults.strike(candidate));
    expect(struck.slice(0, 3)).toMatchObject([{ status: 529 }, { status: 529 }, { status: 500 }]);
    expect(struck[3]).toBeUndefined();
  });

  it("a fault with a condition affects only a request that meets the condition", () => {
    const faults = new Faults(1);
    faults.arm(500, { when: ({ index }) => index === 2 });
    expect([0, 1, 2, 3].map((index) => faults.strike({ ...candidate, index })?.kind)).toEqual([
      undefined,
      undefined,
      "status",
      undefined,
    ]);
  });

  it("a fault inside a stream affects only a streamed request", () => {
    const faults = new Faults(1);
    faults.arm({ kind: "overload-in-stream" });
    expect(faults.strike({ ...candidate, isStream: false })).toBeUndefined();
    expect(faults.strike(candidate)?.kind).toBe("overload-in-stream");
  });

  it("applies a fault only to message calls unless a condition selects another endpoint", () => {
    const faults = new Faults(1);
    faults.arm(500);
    expect(faults.strike({ ...candidate, endpoint: "models" })).toBeUndefined();
    faults.arm(503, { when: ({ endpoint }) => endpoint === "models" });
    expect(faults.strike({ ...candidate, endpoint: "models" })).toMatchObject({ status: 503 });
  });

  it("a fault with a probability affects the same requests for the same seed", () => {
    const run = (seed: number): string => {
      const faults = new Faults(seed);
      faults.arm(529, { probability: 0.05 });
      return Array.from({ length: 2_000 }, () => (faults.strike(candidate) === undefined ? "." : "x")).join(
        "",
      );
    };
    const struck = run(7).replaceAll(".", "").length;
    expect(struck).toBeGreaterThan(60);
    expect(struck).toBeLessThan(140);
    expect(run(7)).toBe(run(7));
    expect(run(7)).not.toBe(run(8));
  });
});

describe("a wrong fault of a program without types", () => {
  it("a fault without a limit is not wrong", () => {
    expect(() => requireFault(529, { times: Number.POSITIVE_INFINITY })).not.toThrow();
  });

  it.each([
    [{ status: 429 }, {}, "fault must be a status, or an object with a kind"],
    ["cut", {}, 'fault must be a status, or an object with a kind, but is "cut"'],
    [{ kind: "cut", afterByte: 5 }, {}, 'fault: unknown field "afterByte"'],
    [200, {}, "fault must be a status from 400 to 599, but is 200"],
    [529, { time: 2 }, 'conditions: unknown field "time"'],
    [529, { when: { model: "a" } }, "conditions.when must be a function"],
    [529, { probability: 50 }, "conditions.probability must be a number from 0 to 1"],
  ])("the fault %j with the conditions %j is refused at once", (fault, conditions, problem) => {
    expect(() => requireFault(fault as unknown as Fault, conditions as never)).toThrow(problem);
  });
});

describe("refusalOf, which creates the error of a fault", () => {
  it("the fault 429 has a retry-after header unless a spend limit is reached or the header is disabled", () => {
    const limited = refusalOf({ kind: "status", status: 429, retryAfter: 7 }, "org", "claude-opus-5");
    expect(limited.headers["retry-after"]).toBe("7");
    expect(limited.message).toContain("(org: org, model: claude-opus-5)");
    const spent = refusalOf({ kind: "status", status: 429, spendLimit: true }, "org", "claude-opus-5");
    expect(spent.headers).toEqual({});
    const silent = refusalOf({ kind: "status", status: 429, retryAfter: null }, "org", "claude-opus-5");
    expect(silent.headers).toEqual({});
    expect(spent.details).toEqual({ error_code: "enforced_spend_limit_reached" });
  });

  it.each([
    [401, "authentication_error"],
    [403, "permission_error"],
    [500, "api_error"],
    [504, "timeout_error"],
    [529, "overloaded_error"],
  ])("the fault with status %i has the error type %s", (status, type) => {
    expect(refusalOf({ kind: "status", status }, "org", "m")).toMatchObject({ status, type });
  });
});
