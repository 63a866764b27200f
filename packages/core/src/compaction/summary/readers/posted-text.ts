import { shellCommands } from "./runners/shell-commands.ts";

/** Reads the words that the assistant publishes with a command, as in a reply to a review. */

/** Command-line clients of code hosts. */
const CLIENTS: ReadonlySet<string> = new Set(["gh", "glab"]);
/** Options whose value is a text for readers. The fields of `gh api` name the text themselves. */
const TEXT_OPTIONS: ReadonlySet<string> = new Set(["-b", "--body", "-m", "--message", "--description"]);
const FIELD_OPTIONS: ReadonlySet<string> = new Set(["-f", "-F", "--field", "--raw-field"]);
const TEXT_FIELD = /^body=/;
const OPTION_WITH_TEXT = /^(?:--body|--message|--description)=/;
/** Start and end of a text that the shell reads from a heredoc. */
const HEREDOC_START = /^\$\(cat <<-?\s*['"]?\w+['"]?\n/;
const HEREDOC_END = /\n[ \t]*\w+\n?[ \t]*\)$/;

/** Returns the texts that a command line publishes, in order. */
export function postedTexts(command: string): readonly string[] {
  return shellCommands(command).flatMap(({ words }) => (CLIENTS.has(words[0] ?? "") ? textsIn(words) : []));
}

function textsIn(words: readonly string[]): readonly string[] {
  return words.flatMap((word, index) => {
    const option = words[index - 1] ?? "";
    const joined = OPTION_WITH_TEXT.exec(word)?.[0];
    if (joined !== undefined) return withoutHeredoc(word.slice(joined.length));
    if (TEXT_OPTIONS.has(option)) return withoutHeredoc(word);
    if (FIELD_OPTIONS.has(option) && TEXT_FIELD.test(word))
      return withoutHeredoc(word.replace(TEXT_FIELD, ""));
    return [];
  });
}

/** Returns the text without the marks of a heredoc. The value of a variable or of another command is unknown. */
function withoutHeredoc(value: string): readonly string[] {
  const text = HEREDOC_START.test(value)
    ? value.replace(HEREDOC_START, "").replace(HEREDOC_END, "")
    : value.startsWith("$") || value.startsWith("-")
      ? ""
      : value;
  // A double-quoted text of a shell escapes these marks.
  const plain = text.replace(/\\(["`$\\])/g, "$1").trim();
  return plain === "" ? [] : [plain];
}
