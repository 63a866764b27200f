import { GIT_READERS, READERS } from "./command-key.ts";

/** Commands that a shell may see in a text, each by itself. */
export const commandsIn = (command: string): readonly string[] =>
  command.replace(/>\||>&|&>/g, ">").split(/&&|\|\||[;|&\n]/);

/** Programs that only look, or take what another one prints. */
const LOOKS: ReadonlySet<string> = new Set([
  ...READERS,
  ...["cd", "jq", "cut", "tr", "column", "nl", "rev", "tac", "test"],
]);

/** System programs whose work does not depend on the project's code. */
const RUNS_NO_PROJECT_CODE: ReadonlySet<string> = new Set([
  ...LOOKS,
  ...["rm", "rmdir", "mv", "cp", "mkdir", "touch", "chmod", "chown", "ln"],
  ...["curl", "wget", "kill", "pkill", "ps"],
  ...["printf", "sort", "uniq", "unzip", "zip", "gzip", "gunzip", "sha256sum", "md5sum", "base64", "date"],
]);

/** They name files without changing them; `git commit` runs hooks all the same. */
const GIT_STAGERS: ReadonlySet<string> = new Set([...GIT_READERS, "add", "commit"]);

/** Commands that look, of git and of others, whatever joins them. In another folder git finds another repository. */
export const isOnlyLooking = (command: string): boolean =>
  isOnlyOf(command, LOOKS, GIT_READERS) && !(/\bgit\b/.test(command) && /\bcd\b/.test(command));

/** Commands that change no file in the working tree. `git commit` may still run hooks. */
export const changesNoFile = (command: string): boolean => isOnlyOf(command, LOOKS, GIT_STAGERS);

/** Commands of the system, whose work does not depend on the project's code. */
export const runsNoProjectCode = (command: string): boolean =>
  isOnlyOf(command, RUNS_NO_PROJECT_CODE, new Set());

/** True where the command is made of nothing but these programs and these subcommands of git. */
function isOnlyOf(command: string, programs: ReadonlySet<string>, subcommands: ReadonlySet<string>): boolean {
  const bare = command
    .replace(/'[^']*'|"[^"$`\\]*"/g, "Q")
    .replace(/\d?>&\d|\d?>\s*\/dev\/null(?=\s|$)/g, "");
  if (/[<>`$\\(){}"']/.test(bare)) return false;
  return commandsIn(bare).every((part) => {
    const [program = "", subcommand = ""] = part.trim().split(/\s+/);
    // It writes a file after all.
    if (program === "git" && /\s--out/.test(part)) return false;
    return program === "" || programs.has(program) || (program === "git" && subcommands.has(subcommand));
  });
}
