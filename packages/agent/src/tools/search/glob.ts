import { stat } from "node:fs/promises";
import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { type FilePlace, needsForReading } from "../files/file-place.ts";
import { throttled } from "../throttled.ts";
import { problemWithPattern, targetOf } from "./glob-pattern.ts";
import { newestFirst, shownBelow, walk, walkNotes } from "./walk.ts";

/**
 * Maximum number of shown files, enough for an overview. More matches mean that the pattern should be more
 * specific.
 */
const MAX_SHOWN = 100;
const PROGRESS_EVERY_MS = 250;

const DESCRIPTION = `Finds files by name, most recently changed first, at most ${MAX_SHOWN}.

- \`*\` matches anything within a name, \`**\` matches any folders, \`{a,b}\` matches a or b. Examples: \`**/*.test.ts\`, \`src/{app,lib}/**/*.css\`. \`*.ts\` alone matches only files directly in the folder.
- Glob finds hidden files too. It skips \`.git\`, \`node_modules\`, and everything that .gitignore files exclude, unless the pattern or \`path\` names it: \`node_modules/zod/**/*.d.ts\`. It does not follow links.
- Use Grep to search the content of files.`;

const input = z.object({
  pattern: z.string().min(1).describe("For example **/*.ts"),
  path: z.string().optional().describe("The folder to search. Default: the working directory."),
});

type GlobInput = z.infer<typeof input>;

export function globTool(place: FilePlace): Tool {
  return defineTool({
    name: "Glob",
    description: DESCRIPTION,
    input,
    isReadOnly: true,
    title: ({ pattern, path }) => (path === undefined ? pattern : `${pattern} in ${path}`),
    needs: ({ pattern, path }) =>
      problemWithPattern(pattern) === undefined ? needsForReading(place, targetOf(path, pattern).path) : [],
    call: (given, context) => find(place, given, context),
  });
}

async function find(
  place: FilePlace,
  { pattern, path }: GlobInput,
  { signal, onProgress }: ToolContext,
): Promise<ToolOutcome> {
  const problem = problemWithPattern(pattern);
  if (problem !== undefined) return failure(problem, "invalid pattern");
  const target = targetOf(path, pattern);
  const root = await place.paths.resolve(target.path);
  const folder = await stat(root.realPath).catch(() => undefined);
  if (!folder?.isDirectory()) return failure(`There is no folder ${root.displayPath}.`, "no such folder");
  const progress = throttled(onProgress, PROGRESS_EVERY_MS);
  try {
    const walked = await walk({
      root: root.realPath,
      patterns: [target.pattern],
      signal,
      onSeen: (count) => progress.report(`${count} files and folders checked`),
    });
    const { files } = walked;
    const newest = await newestFirst(files, signal);
    const shown = newest.slice(0, MAX_SHOWN).map((file) => shownBelow(place, root, file));
    const notes = [
      shown.length === 0 ? `No files match ${pattern}.` : "",
      files.length > MAX_SHOWN ? `[${files.length} files match. These are the ${MAX_SHOWN} newest.]` : "",
      ...walkNotes(walked),
    ].filter((note) => note !== "");
    const summary = files.length === 1 ? "1 file" : `${files.length} files`;
    return { content: [...shown, ...notes].join("\n"), summary };
  } finally {
    progress.stop();
  }
}
