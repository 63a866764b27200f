import { z } from "zod";

/** More than this around a match is reading, not searching. */
const MOST_CONTEXT_LINES = 50;
/** Unless the model says how many it wants. */
const USUAL_ENTRIES = 100;
const MOST_ENTRIES = 2_000;

export const GREP_DESCRIPTION: string = `Searches what is in files, by a regular expression as in JavaScript: \`log.*Error\`, \`function\\s+\\w+\`, \`interface\\{\\}\`. Each line is searched by itself, unless \`multiline\` is set.

- \`output_mode\`: \`files_with_matches\` (the default) gives paths, the newest change first; \`content\` gives the lines, as path:line:text, with \`-A\`, \`-B\`, \`-C\` lines around them as path-line-text; \`count\` gives how many lines match in each file.
- \`path\`: a folder or a single file. \`glob\`: only files of these names, such as \`*.ts\` (at any depth), \`src/**/*.{ts,tsx}\`, \`!*.test.ts\`.
- Hidden files are searched too. Not searched are \`.git\`, \`node_modules\` and what .gitignore files leave out (unless \`path\` or \`glob\` names them), binary and very large files. Links are not followed.
- At most ${USUAL_ENTRIES} paths, lines or counts unless \`head_limit\` says otherwise. Long lines are cut around the match.
- Use this rather than grep or rg in Bash.`;

export interface GrepInput {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly output_mode?: GrepWishes["mode"] | undefined;
  readonly "-i"?: boolean | undefined;
  readonly "-n"?: boolean | undefined;
  readonly "-A"?: number | undefined;
  readonly "-B"?: number | undefined;
  readonly "-C"?: number | undefined;
  readonly head_limit?: number | undefined;
  readonly multiline?: boolean | undefined;
}

const lineCount = z.number().int().min(0).max(MOST_CONTEXT_LINES).optional();

export const grepInput: z.ZodType<GrepInput> = z.object({
  pattern: z.string().min(1).describe("A regular expression, as in JavaScript."),
  path: z.string().optional().describe("A folder or a file; the working directory unless given."),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe("Only files like this, such as *.ts; with ! in front, all others."),
  output_mode: z.enum(["files_with_matches", "content", "count"]).optional(),
  "-i": z.boolean().optional().describe("Capital and small letters are the same."),
  "-n": z.boolean().optional().describe("Line numbers in content; true unless given."),
  "-A": lineCount.describe("Lines after each match, in content."),
  "-B": lineCount.describe("Lines before each match, in content."),
  "-C": lineCount.describe("Lines before and after each match, in content."),
  head_limit: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe(`At most so many; 0: as many as can be, ${MOST_ENTRIES}.`),
  multiline: z.boolean().optional().describe("A match may go over several lines, and . matches line ends."),
});

export interface GrepWishes {
  readonly mode: "files_with_matches" | "content" | "count";
  readonly before: number;
  readonly after: number;
  readonly hasNumbers: boolean;
  readonly mostEntries: number;
}

export function wishesOf(input: GrepInput): GrepWishes {
  const around = input["-C"] ?? 0;
  return {
    mode: input.output_mode ?? "files_with_matches",
    before: input["-B"] ?? around,
    after: input["-A"] ?? around,
    hasNumbers: input["-n"] ?? true,
    mostEntries: Math.min(
      input.head_limit === 0 ? MOST_ENTRIES : (input.head_limit ?? USUAL_ENTRIES),
      MOST_ENTRIES,
    ),
  };
}

/** A name alone means at any depth. */
export function globPatterns(glob: string | undefined): readonly string[] {
  if (glob === undefined) return ["**/*"];
  const isNot = glob.startsWith("!");
  const name = isNot ? glob.slice(1) : glob;
  const pattern = name.includes("/") ? name.replace(/^\.?\//, "") : `**/${name}`;
  return isNot ? ["**/*", `!${pattern}`] : [pattern];
}
