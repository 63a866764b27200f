import type { ContentBlock } from "../../message.ts";
import type { JsonRecord } from "../../untrusted.ts";
import { stringsField, textField } from "../attachment-fields.ts";
import { reminder } from "../reminder.ts";

export function skillListing(attachment: JsonRecord): readonly ContentBlock[] {
  const listing = textField(attachment, "content") || stringsField(attachment, "names").join("\n");
  return listing.trim() === "" ? [] : reminder(`Skills that can be used:\n${listing}`);
}

export function toolsDelta(attachment: JsonRecord): readonly ContentBlock[] {
  const added = firstFilled(attachment, ["addedLines", "addedNames"]);
  return delta([
    ["Tools that can be loaded by name when needed:", added],
    ["Tools that are back:", stringsField(attachment, "readdedNames")],
    ["Tools that are gone:", stringsField(attachment, "removedNames")],
    ["Tool servers still starting:", stringsField(attachment, "pendingMcpServers")],
    ["Tool servers that wait for the user to sign in:", stringsField(attachment, "needsAuthMcpServers")],
  ]);
}

export function agentsDelta(attachment: JsonRecord): readonly ContentBlock[] {
  const added = firstFilled(attachment, ["addedLines", "addedTypes"]);
  return delta([
    ["Kinds of agent that can be started:", added],
    ["Kinds of agent that are gone:", stringsField(attachment, "removedTypes")],
  ]);
}

export function serverInstructionsDelta(attachment: JsonRecord): readonly ContentBlock[] {
  const added = firstFilled(attachment, ["addedBlocks", "addedNames"]);
  return delta([
    ["Instructions from tool servers:", added],
    ["Tool servers whose instructions no longer hold:", stringsField(attachment, "removedNames")],
  ]);
}

function firstFilled(attachment: JsonRecord, names: readonly string[]): readonly string[] {
  return names.map((name) => stringsField(attachment, name)).find((list) => list.length > 0) ?? [];
}

function delta(sections: readonly (readonly [string, readonly string[]])[]): readonly ContentBlock[] {
  const filled = sections.filter(([, items]) => items.length > 0);
  return reminder(filled.map(([heading, items]) => [heading, ...items].join("\n")).join("\n\n"));
}
