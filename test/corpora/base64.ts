/**
 * Base64 of random bytes in four forms: on one line, wrapped at 76 characters, URL-safe, and as data URLs
 * within JSON.
 */
import { type Choices, choices, grow } from "./random.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function base64Text(from: Choices, length: number): string {
  let text = "";
  for (let index = 0; index < length; index++) text += ALPHABET[from.below(64)];
  return text;
}

export function base64Corpus(length: number, seed = 12): string {
  const from = choices(seed);
  return grow(length, "\n", () => {
    const body = base64Text(from, from.between(2000, 6000));
    switch (from.below(4)) {
      case 0:
        return `${body}==`;
      case 1:
        return body.replace(/.{76}/g, "$&\n");
      case 2:
        return body.replaceAll("+", "-").replaceAll("/", "_");
      default:
        return JSON.stringify({
          type: "image",
          media_type: "image/png",
          data: `iVBORw0KGgoAAAANSUhEUgAA${body}`,
        });
    }
  });
}
