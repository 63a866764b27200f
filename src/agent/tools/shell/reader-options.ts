/**
 * Options of programs that only look, by which they look at nothing but the files that they are told. A list of what is
 * known to be harmless, because programs take options in more spellings than anybody can forbid: abbreviated, bundled,
 * with the value attached. Everything else asks for exactly this command.
 */
const OPTIONS: Readonly<Record<string, RegExp | undefined>> = Object.assign(Object.create(null), {
  ls: /^-(?:[aAlhtrRS1dFisUcgpnG]+|-(?:all|almost-all|human-readable|reverse|recursive|color(?:=\w+)?))$/,
  cat: /^-[nAbsvetET]+$/,
  head: /^-(?:[nc]?\d+|[ncqv])$/,
  tail: /^-(?:[nc]?\+?\d+|[ncqvfF])$/,
  wc: /^-[lwcmL]+$/,
  pwd: /^-[LP]$/,
  which: /^-a$/,
  stat: /^-[tx]$/,
  du: /^-(?:[shackm]+|d\d*|-(?:max-depth=\d+|human-readable|summarize))$/,
  df: /^-[hTik]+$/,
  echo: /^-/,
  grep: new RegExp(
    `^-(?:[nivwxclLoHhsqEFGPa]+|[nivwxclLoHhsqEFGPa]*[ABCm]\\d*|e|-(?:${[
      "colou?r(?:=\\w+)?",
      "line-number",
      "ignore-case",
      "count",
      "only-matching",
      "files-with-matches",
      "word-regexp",
      "fixed-strings",
      "extended-regexp",
      "with-filename",
      "no-filename",
      "(?:context|after-context|before-context|max-count)=\\d+",
    ].join("|")}))$`,
  ),
  diff: /^-(?:[uwbBiqya]+|U\d*|-(?:unified(?:=\d+)?|brief|side-by-side|ignore-all-space|color(?:=\w+)?))$/,
  cmp: /^-[slb]+$/,
  basename: /^-[as]$/,
  realpath: /^-[ems]$/,
  readlink: /^-[fen]$/,
  uname: /^-[amnprsv]+$/,
});

const SHOWS_CHANGES = [
  "--(?:stat|numstat|shortstat|summary|name-only|name-status|raw|patch|no-patch|minimal|patience|histogram)",
  "--(?:check|exit-code|word-diff|color-words|no-color|color(?:=\\w+)?|no-renames|find-renames|abbrev(?:=\\d+)?)",
  "--(?:ignore-all-space|ignore-space-change|ignore-blank-lines|diff-filter=[A-Za-z]+|unified=\\d+)",
  "-(?:[pswbMz]|U\\d+)",
];
const SHOWS_COMMITS = [
  ...SHOWS_CHANGES,
  "-(?:n|n?\\d+)",
  "-[SG][\\w.-]*",
  "--(?:oneline|graph|all|decorate(?:=\\w+)?|no-decorate|no-merges|merges|first-parent|reverse|follow)",
  "--(?:abbrev-commit|topo-order|date-order|branches|tags|remotes|max-count=\\d+|skip=\\d+|relative-date)",
  "--(?:since|until|after|before|author|committer|grep|date)=[\\w .:@/+-]+",
  "--(?:pretty|format)=(?:oneline|short|medium|full|fuller|reference|email|raw)",
];

const oneOf = (...options: readonly string[]): RegExp => new RegExp(`^(?:${options.join("|")})$`);

const GIT_OPTIONS: Readonly<Record<string, RegExp | undefined>> = Object.assign(Object.create(null), {
  status: oneOf(
    "-(?:[sb]+|u|u(?:no|normal|all))",
    "--(?:short|branch|long|porcelain(?:=v?\\d)?|show-stash|ignored)",
  ),
  diff: oneOf(...SHOWS_CHANGES, "--(?:cached|staged|merge-base)"),
  log: oneOf(...SHOWS_COMMITS),
  show: oneOf(...SHOWS_COMMITS),
  blame: oneOf("-(?:[wesltfn]|L\\d*|L\\d+,\\+?\\d+)", "--(?:date=\\w+|show-name|show-number|show-email)"),
  "ls-files": oneOf("-[cdmostvz]+", "--(?:cached|deleted|modified|others|stage|exclude-standard|full-name)"),
  "rev-parse": oneOf(
    "--(?:abbrev-ref|short(?:=\\d+)?|verify|quiet|symbolic-full-name)",
    "--(?:show-toplevel|show-prefix|is-inside-work-tree|git-dir|absolute-git-dir)",
  ),
  shortlog: oneOf("-[sne]+", "--(?:summary|numbered|email|all|no-merges)"),
  describe: oneOf("--(?:tags|always|all|long|contains|abbrev=\\d+)"),
  commit: oneOf(
    "-(?:m|a|am|q|s)",
    "--(?:amend|no-edit|signoff|quiet|message|all)",
    "--message=[\\w .:,@/+-]*",
  ),
  // It may add credentials, which a later look would show: only files that are named.
  add: oneOf("-v", "--verbose"),
});

/** True where no option of the command reaches further than the files that it names. */
export function hasPlainOptions([program = "", first = "", ...others]: readonly string[]): boolean {
  const known = program === "git" ? GIT_OPTIONS[first] : OPTIONS[program];
  const words = program === "git" ? others : [first, ...others];
  // Also behind `--`, which may be the value of the option before it: `grep -e -- -r`.
  const options = words.filter((word) => word.startsWith("-") && !/^--?$/.test(word));
  return options.every((option) => known?.test(option) ?? false);
}
