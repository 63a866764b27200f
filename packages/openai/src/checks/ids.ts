import type { Report } from "../report.ts";
import { quote } from "../values.ts";

/** Characters of an id that the API gives to an item, a response or a conversation. */
const MAX_ID_LENGTH = 64;

const ID_PATTERN = /^[a-zA-Z0-9_-]*[a-zA-Z0-9-]$/;

/** Checks an id that the API gave. The prefix is empty if no source names it. */
export function checkId(id: string, prefix: string, path: string, report: Report): void {
  if (id.length > MAX_ID_LENGTH)
    report.add(
      "id-length",
      path,
      `${path} has ${id.length} characters, but the API accepts at most ${MAX_ID_LENGTH}. Remove it.`,
    );
  if (!ID_PATTERN.test(id))
    report.add(
      "id-characters",
      path,
      `${path} is ${quote(id)}, but an id has only letters, digits, "_" and "-". Send the id that the API gave, or none.`,
    );
  if (!id.startsWith(prefix))
    report.add(
      "id-prefix",
      path,
      `${path} is ${quote(id)}, but such an id begins with ${quote(prefix)}. Send the id that the API gave, or none.`,
    );
}
