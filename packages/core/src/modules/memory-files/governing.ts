import { foldersTo, insideOf, isBelow, type Place, type PlacedPath } from "./placed-paths.ts";

const MEMORY_NAMES = ["AGENTS.md", "CLAUDE.md"] as const;
const RULE_FOLDERS = [".claude/rules"] as const;

/** File names and folders to search for memory files and rules. */
export interface Governance {
  readonly project: Place;
  readonly names: readonly string[];
  readonly ruleFolders: readonly RuleFolder[];
}

export interface RuleFolder {
  readonly folder: PlacedPath;
  /**
   * The folder to which the rules apply and to which their patterns are relative. Empty for the working
   * directory.
   */
  readonly base: string;
}

/**
 * Collects the names of memory files and the rule folders, except those that lead out of the working
 * directory.
 */
export function memoryRulesOf(
  project: Place,
  names: readonly string[] = MEMORY_NAMES,
  ruleFolders: readonly string[] = RULE_FOLDERS,
): Governance {
  return {
    project,
    names: names.flatMap((name) => insideOf(project, name) ?? []),
    ruleFolders: ruleFolders.flatMap((name): readonly RuleFolder[] => {
      const relative = insideOf(project, name);
      return relative === undefined ? [] : [{ folder: { place: project, relative }, base: baseOf(relative) }];
    }),
  };
}

/** Returns the parent of a hidden folder: `web/.claude/rules` applies to `web`. */
function baseOf(ruleFolder: string): string {
  const names = ruleFolder.split("/");
  const hidden = names.findIndex((name) => name.startsWith("."));
  return hidden < 0 ? "" : names.slice(0, hidden).join("/");
}

/** Lists the possible memory files for these paths, outermost first. They need not exist. */
export function memoryPathsFor(
  touched: Iterable<string>,
  { project, names }: Governance,
): readonly PlacedPath[] {
  const folders = new Set<string>();
  for (const path of touched) for (const folder of foldersTo(path)) folders.add(folder);
  const depth = (folder: string): number => (folder === "" ? 0 : folder.split("/").length);
  return [...folders]
    .sort((a, b) => depth(a) - depth(b))
    .flatMap((folder) =>
      names.map((name) => ({ place: project, relative: folder === "" ? name : `${folder}/${name}` })),
    );
}

/** Returns the rule folder that contains a Markdown file, at any depth. */
export function ruleFolderOf(path: PlacedPath, { project, ruleFolders }: Governance): RuleFolder | undefined {
  if (path.place !== project || !/\.md$/i.test(path.relative)) return undefined;
  return ruleFolders.find(({ folder }) => isBelow(path, folder.relative));
}
