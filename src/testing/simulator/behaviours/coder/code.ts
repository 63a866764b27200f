import type { Random } from "../../../../demo/random.ts";
import { area, capitalised, functionName, phrase, quality, thing } from "../chance.ts";

/** The contents of a made-up file, about this long. */
export function fileText(path: string, random: Random, characters: number): string {
  if (path.endsWith(".md")) return markdown(random, characters);
  if (path.endsWith(".json")) return json(random, characters);
  return code(random, characters);
}

function code(random: Random, characters: number): string {
  const subject = capitalised(thing(random));
  let text = `/** ${capitalised(phrase(random))}. */\nexport interface ${subject} {\n  readonly id: string;\n  readonly ${quality(random)}Count: number;\n}\n`;
  do text += `\n${codeFunction(subject, random)}`;
  while (text.length < characters);
  return text;
}

function codeFunction(subject: string, random: Random): string {
  const name = functionName(random);
  const list = `${thing(random)}s`;
  const limit = random.between(2, 900);
  const bodies = [
    `  const ${list} = input.filter((one) => one.id !== "${random.hex(6)}");\n  if (${list}.length > ${limit}) return ${list}.slice(0, ${limit});\n  return ${list};\n`,
    `  const found = new Map(input.map((one) => [one.id, one]));\n  // ${capitalised(phrase(random))}.\n  return [...found.values()].slice(-${limit});\n`,
    `  if (input.length === 0) throw new Error("${phrase(random)}: nothing to do");\n  return input.toSorted((a, b) => a.id.localeCompare(b.id)).slice(${limit % 7});\n`,
  ] as const;
  return `export function ${name}(input: readonly ${subject}[]): readonly ${subject}[] {\n${random.pick(bodies)}}\n`;
}

function markdown(random: Random, characters: number): string {
  let text = `# ${capitalised(area(random))}: ${phrase(random)}\n`;
  do
    text += `\n## ${capitalised(phrase(random))}\n\n- ${phrase(random)}\n- ${phrase(random)} (${random.between(1, 90)})\n`;
  while (text.length < characters);
  return text;
}

function json(random: Random, characters: number): string {
  const entries: Record<string, unknown> = {};
  let length = 0;
  for (let index = 0; length < characters; index++) {
    const key = `${thing(random)}_${index}`;
    entries[key] = { note: phrase(random), limit: random.between(1, 500) };
    length += key.length + 60;
  }
  return `${JSON.stringify(entries, undefined, 2)}\n`;
}
