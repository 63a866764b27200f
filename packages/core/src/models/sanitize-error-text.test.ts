import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "./port.ts";
import { sanitizeErrorText } from "./sanitize-error-text.ts";

const request: ModelRequest = {
  system: "You guard the vault of the third bridge.",
  messages: [
    { role: "user", content: "The crocodile sleeps under the third bridge until noon." },
    {
      role: "assistant",
      content: [
        {
          type: "tool_use",
          id: "toolu_012345678901234567",
          name: "open_the_vault",
          input: { code: "opensesame" },
        },
      ],
    },
  ],
};

describe("sanitizeErrorText", () => {
  it.each([
    ["messages.8: `tool_use` ids were found without results: toolu_012345678901234567."],
    ["prompt is too long: 208656 tokens > 200000 maximum"],
    ["invalid x-api-key"],
    ["Tool open_the_vault is not known."],
  ])("keeps an error text without secrets unchanged: %s", (said) =>
    expect(sanitizeErrorText(said, request)).toBe(said),
  );

  it.each([
    ["Bad input_value='The crocodile sleeps under the third bridge until noon.'", "Bad input_value='[…]'"],
    ["Bad value: crocodile sleeps under the th…", "Bad value:[…]…"],
    ["Bad: You guard the vault of the third", "Bad:[…]"],
    ["Bad code 'opensesame'", "Bad code '[…]'"],
  ])("removes quotes of the conversation from an error text: %s", (said, shown) => {
    expect(sanitizeErrorText(said, request).replace(/ (?=\[)/, "")).toBe(shown.replace(/ (?=\[)/, ""));
  });

  it.each([
    ["Incorrect API key provided: sk-proj-abcdefgh12345678.", "Incorrect API key provided: […]"],
    ["no such key AIzaSyA1234567890abcdefghijk here", "no such key […] here"],
    ["got Bearer abcdefgh.12345678, not allowed", "got Bearer […] not allowed"],
    ['auth token = "0123456789abcdef"', 'auth token = "[…]"'],
    ["the key house-secret-1 is wrong", "the key […] is wrong"],
  ])("removes API keys from an error text: %s", (said, shown) => {
    expect(sanitizeErrorText(said, request, ["house-secret-1"])).toBe(shown);
  });

  it("shortens an error text to one line without control characters", () => {
    expect(sanitizeErrorText("bad\u001b[31m red\r\n\n\tthing ")).toBe("bad [31m red thing");
    expect(sanitizeErrorText(`<html>${"x".repeat(5_000)}`).length).toBeLessThan(410);
  });

  it("a sanitized error text never contains 24 consecutive characters of the conversation", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 24, maxLength: 80 }),
        fc.nat(40),
        fc.string(),
        fc.string(),
        (content, from, before, after) => {
          const quote = content.slice(from % (content.length - 23));
          const shown = sanitizeErrorText(`${before}${quote}${after}`, {
            messages: [{ role: "user", content }],
          });
          for (let at = 0; at + 24 <= content.length; at += 1) {
            expect(shown.includes(content.slice(at, at + 24))).toBe(false);
          }
        },
      ),
    );
  });
});
