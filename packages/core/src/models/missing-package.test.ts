import { describe, expect, it } from "vitest";
import { isMissingPackage } from "./missing-package.ts";

const notFound = (message: string, code = "ERR_MODULE_NOT_FOUND"): Error =>
  Object.assign(new Error(message), { code });

describe("isMissingPackage", () => {
  it.each([
    "Cannot find package 'ai' imported from /app/node_modules/longhaul/dist/main.js",
    "Cannot find module '/app/node_modules/ai/dist/index.mjs' imported from /app/main.js",
    "Cannot find module 'C:\\app\\node_modules\\ai\\dist\\index.mjs' imported from C:\\app\\main.js",
    "Cannot find module 'ai/internal'",
    'Cannot find package "ai" from "/app/main.ts"',
  ])("returns true when the error says that the given package is missing: %s", (message) => {
    expect(isMissingPackage(notFound(message), "ai")).toBe(true);
  });

  it.each([
    "Cannot find package 'zod' imported from /app/node_modules/ai/dist/index.mjs",
    "Cannot find package '/app/node_modules/ai/node_modules/zod/index.js' imported from /app/main.js",
    "Cannot find package 'ai-tokenizer' imported from /app/main.js",
    "Cannot find it",
  ])("returns false unless the error says that the given package is missing: %s", (message) => {
    expect(isMissingPackage(notFound(message), "ai")).toBe(false);
  });

  it.each([
    "Failed to resolve module specifier 'ai'",
    "The specifier “ai” was a bare specifier, but was not remapped to anything. Relative module specifiers must start with “./”, “../” or “/”.",
    "Module name, 'ai' does not resolve to a valid URL.",
    'Relative import path "ai" not prefixed with / or ./ or ../',
    'Import "ai" not a dependency',
    'No such module "ai".',
  ])("recognizes the missing package in the error of a runtime without error codes: %s", (message) => {
    expect(isMissingPackage(new TypeError(message), "ai")).toBe(true);
    expect(isMissingPackage(new TypeError(message), "zod")).toBe(false);
  });

  it("isMissingPackage returns false for an error with another code or without a message", () => {
    expect(isMissingPackage(notFound("Cannot find package 'ai'", "ERR_OTHER"), "ai")).toBe(false);
    expect(isMissingPackage({ code: "MODULE_NOT_FOUND" }, "ai")).toBe(false);
  });
});
