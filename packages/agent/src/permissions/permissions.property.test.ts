import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modeAllows, ruleAllows } from "./permissions.ts";

const kinds = fc.constantFrom(
  ...(["shell", "change", "outside-path", "guarded-file", "secret-file", "web", "plan", "other"] as const),
);
const exact = fc.constantFrom("shell-exact:", "write-guarded:", "read-secret:");
const prefix = fc.oneof(fc.constantFrom("shell:", "path:", "web:", "change:", ""), exact);
const key = fc.tuple(prefix, fc.string()).map(([start, rest]) => start + rest);

describe("permission rules and keys", () => {
  it("a permission rule without a star allows only the key that equals the rule", () => {
    fc.assert(
      fc.property(key, key, (rule, other) => {
        fc.pre(!rule.endsWith("*"));
        expect(ruleAllows(rule, rule)).toBe(true);
        expect(ruleAllows(rule, other)).toBe(rule === other);
      }),
    );
  });

  it("a permission rule that ends in a star allows only keys that begin with the text before the star", () => {
    fc.assert(
      fc.property(key, key, (beginning, other) => {
        if (ruleAllows(`${beginning}*`, other)) expect(other.startsWith(beginning)).toBe(true);
      }),
    );
  });

  it("a permission rule that ends in a star allows all simple commands that begin with the text before the star", () => {
    fc.assert(
      fc.property(fc.string(), fc.stringMatching(/^[ a-z0-9/-]*$/), (beginning, rest) => {
        fc.pre(!`shell:${beginning}${rest}`.startsWith("shell-exact:"));
        expect(ruleAllows(`shell:${beginning}*`, `shell:${beginning}${rest}`)).toBe(true);
      }),
    );
  });

  it("no permission rule with a star allows a combined command, a guarded file or credentials", () => {
    fc.assert(
      fc.property(exact, fc.string(), fc.nat(), (start, rest, cut) => {
        const combined = `${start}${rest}`;
        const rule = `${combined.slice(0, cut % (combined.length + 1))}*`;
        expect(ruleAllows(rule, combined)).toBe(rule === combined);
        expect(ruleAllows(combined, combined)).toBe(true);
      }),
    );
  });

  it("a permission rule for all files of a folder does not allow a path that leads out of the folder with ..", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{1,4}$/)), fc.array(fc.string()), (before, after) => {
        const path = ["path:/data", ...before, "..", ...after].join("/");
        expect(ruleAllows("path:/data/*", path)).toBe(false);
      }),
    );
    expect(ruleAllows("path:/data/*", "path:/data/a..b/c")).toBe(true);
  });
});

describe("permission modes", () => {
  it("mode allow-all allows everything, default allows nothing, and accept-edits allows ordinary edits", () => {
    fc.assert(
      fc.property(kinds, (kind) => {
        expect(modeAllows("allow-all", kind)).toBe(true);
        expect(modeAllows("default", kind)).toBe(false);
        expect(modeAllows("accept-edits", kind)).toBe(kind === "change");
      }),
    );
  });
});
