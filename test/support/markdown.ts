/** A piece of code in a page. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** Heading above the block. Empty before the first heading. */
  readonly heading: string;
  /** Text of the comment in the line before the block, such as `<!-- not run: needs a key -->`. */
  readonly notRun: string | undefined;
}

export function codeBlocks(page: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let heading = "";
  let open: { language: string; lines: string[]; notRun: string | undefined } | undefined;
  let before = "";
  for (const line of page.split("\n")) {
    if (open !== undefined && line === "```") {
      const { language, lines, notRun } = open;
      blocks.push({ language, code: `${lines.join("\n")}\n`, heading, notRun });
      open = undefined;
    } else if (open !== undefined) open.lines.push(line);
    else if (line.startsWith("```")) {
      open = { language: line.slice(3), lines: [], notRun: /<!-- not run: (.*) -->/.exec(before)?.[1] };
    } else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, "");
    before = line;
  }
  return blocks;
}

/** Returns the rows of the first table under a heading, split into cells. */
export function tableUnder(page: string, heading: string): readonly (readonly string[])[] {
  const start = page.indexOf(`${heading}\n`);
  if (start === -1) throw new Error(`There is no heading ${heading}`);
  const next = page.indexOf("\n#", start + 1);
  const section = page.slice(start, next === -1 ? undefined : next);
  const [table = ""] = /(?:^\|.*(?:\n|$))+/m.exec(section) ?? [];
  const [, , ...rows] = table.trim().split("\n");
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

export const codeIn = (cell = ""): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
