import { describe, expect, it, vi } from "vitest";
import { ModelError } from "../models/model-error.ts";
import { LonghaulError } from "./errors.ts";

/** Loads a second copy of the error classes, like a program that bundles its own copy of the package. */
async function copies(): Promise<{ Base: typeof LonghaulError; Failure: typeof ModelError }> {
  vi.resetModules();
  const { LonghaulError: Base } = await import("./errors.ts");
  const { ModelError: Failure } = await import("../models/model-error.ts");
  return { Base, Failure };
}

class OwnError extends LonghaulError {}

describe("errors of another copy of the package", () => {
  it("instanceof recognizes the class and the parent class of an error from another copy of the package", async () => {
    const { Base, Failure } = await copies();
    expect([Base === LonghaulError, Failure === ModelError]).toEqual([false, false]);
    const error = new Base("option-invalid", "No.");
    const failure = new Failure({ kind: "overloaded" }, "Busy.");
    expect([error instanceof LonghaulError, error instanceof ModelError]).toEqual([true, false]);
    expect([failure instanceof LonghaulError, failure instanceof ModelError]).toEqual([true, true]);
  });

  it("a subclass without its own brand matches only errors of that subclass", () => {
    expect(new LonghaulError("option-invalid", "No.") instanceof OwnError).toBe(false);
    const own = new OwnError("option-invalid", "No.");
    expect([own instanceof OwnError, own instanceof LonghaulError, own instanceof ModelError]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("instanceof returns false for all other objects, even if they imitate the brand of an error", () => {
    const brand = LonghaulError.brand;
    const imitations: readonly unknown[] = [null, 1, "x", {}, new Error("x"), { constructor: { brand } }];
    expect(imitations.filter((value) => value instanceof LonghaulError)).toEqual([]);
  });
});
