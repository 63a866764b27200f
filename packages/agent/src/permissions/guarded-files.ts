import { pathNames } from "@longhaul/sessions";

/**
 * File that runs code later, or changes what an agent may do. The agent asks before each change to such a
 * file.
 */
export interface GuardedFile {
  /** End of a sentence that begins with the file's name, such as "which your shell runs when it starts". */
  readonly why: string;
  /** True if the file decides what a command such as `npm test` or `git commit` runs. */
  readonly decidesCommands: boolean;
}

interface GuardedKind extends GuardedFile {
  /** Patterns for the whole path in lower case, with `/` before each name. */
  readonly places: readonly RegExp[];
  /**
   * Patterns for the path in its original case. On case-sensitive disks, only this spelling has an effect.
   */
  readonly cased?: readonly RegExp[];
  /** True if only names inside the project count. The project itself may be in a folder such as `venv`. */
  readonly isOfProject?: boolean;
}

/**
 * Recognizes a guarded file by its path alone. Git folders with other names are recognized elsewhere, by
 * their contents. If `relativePath`, the path from the working folder, is known, other hidden files count as
 * guarded too. The reason is that nobody can list all tools that read hidden files.
 */
export function guardedFile(path: string, relativePath?: string): GuardedFile | undefined {
  if (path.length > LONGEST_PATH_CHARS) return undefined;
  const known = KINDS.find(({ places, cased = [], isOfProject = false }) => {
    // Claude Code puts worktrees of projects into its own folder, so this part of the path does not count.
    const seen = isOfProject ? (relativePath ?? path) : path.replace(/\/\.claude\/worktrees\/[^/]+/, "");
    const whole = `/${pathNames(seen).join("/")}`;
    const written = `/${seen.split(/[\\/]/).filter(Boolean).join("/")}`;
    return places.some((place) => place.test(whole)) || cased.some((place) => place.test(written));
  });
  return known ?? (relativePath === undefined ? undefined : guardedInProject(relativePath));
}

function guardedInProject(relativePath: string): GuardedFile | undefined {
  const names = pathNames(relativePath);
  const hidden = names.findIndex((name) => name.startsWith(".") && name !== "..");
  if (hidden >= 0 && !HARMLESS.test(names.slice(hidden).join("/"))) return HIDDEN;
  return names.length === 1 && TOP_CONFIG.test(names[0] ?? "") ? BUILD : undefined;
}

/** Hidden files that make no program run code: lists of excluded files, editor styles, version numbers. */
const HARMLESS =
  /^\.(?:gitignore|gitattributes|gitkeep|keep|gitmessage|mailmap|editorconfig|nvmrc|node-version|ruby-version|browserslistrc|clang-format|markdownlint\.json|[\w-]*ignore|env(?:\..+)?\.(?:example|sample|template|dist|schema)|well-known\/.*|changeset\/[^/]+\.md|github\/[^/]+\.md|github\/(?:codeowners|(?:funding|dependabot|labeler|release|stale)\.ya?ml)|(?:java|go|terraform)-version|yamllint(?:\.ya?ml)?|typos\.toml|rustfmt\.toml|taplo\.toml|github\/(?:issue_template|pull_request_template|discussion_template)\/.*)$/;

const HIDDEN: GuardedFile = {
  why: "which is hidden and may configure a program",
  decidesCommands: true,
};

/**
 * Pattern of a file that configures a tool at the top of a project. In deeper folders, such a file may be
 * source code.
 */
const TOP_CONFIG = /^[\w.-]+\.conf(?:ig)?(?:\.[\w-]+)*\.(?:[cm]?[jt]sx?|json5?|ya?ml|toml|coffee)$/;

/** Maximum path length. No system opens a longer path. */
const LONGEST_PATH_CHARS = 4_096;

const isCaseless = process.platform === "darwin" || process.platform === "win32";

/** Matches a file of this name in any folder. */
const named = (...names: readonly string[]): RegExp => new RegExp(`/(?:${names.join("|")})$`);
/** Matches exactly this spelling, for case-sensitive disks. */
const spelled = (...names: readonly string[]): RegExp =>
  new RegExp(`/(?:${names.join("|")})$`, isCaseless ? "i" : "");
/** Matches a folder of this name and everything in it. */
const within = (...folders: readonly string[]): RegExp => new RegExp(`/(?:${folders.join("|")})(?:/|$)`);

const SCRIPT = "(?:[cm]?[jt]sx?)";

const BUILD: GuardedFile = {
  why: "which controls what the project's commands, build or editor run",
  decidesCommands: true,
};

/** Tools whose configuration is a program or names programs, also below the top of a project. */
const CONFIGURED = [
  "vite|vitest|jest|webpack|rollup|rolldown|rspack|esbuild|tsup|tsdown|parcel",
  "eslint|prettier|stylelint|babel|postcss|tailwind|next|nuxt|svelte|astro|remix",
  "karma|playwright|cypress|wdio|protractor|commitlint|lint-staged|metro|vue|craco",
  "drizzle|docusaurus|release|stryker|knip|swc|storybook|codegen|graphql|uno|panda",
  "gatsby-[\\w]+|tauri|electron-builder|gunicorn|testem|ember-cli-build|nodemon",
].join("|");

const KINDS: readonly GuardedKind[] = [
  {
    why: "where git keeps its settings and hooks",
    decidesCommands: true,
    places: [
      within("\\.git", "git~1", "\\.husky", "\\.githooks", "\\.git-hooks", "\\.lefthook", "\\.config/git"),
      within("\\.hg", "\\.svn", "\\.bzr", "\\.jj"),
      named(
        "\\.gitconfig.*|\\.gitmodules|\\.hgrc|commondir|gitdir",
        "lefthook(?:-local)?\\.(?:ya?ml|toml|json)|\\.?simple-git-hooks\\.(?:json|[cm]?js)",
        "\\.pre-commit-config\\.ya?ml|\\.overcommit\\.yml|\\.lintstagedrc(?:\\.\\w+)?|prek\\.toml|hk\\.pkl",
        "captainhook\\.json|grumphp\\.ya?ml(?:\\.dist)?|cog\\.toml",
      ),
    ],
    cased: [spelled("HEAD")],
  },
  {
    why: "which the shell or another program runs when it starts",
    decidesCommands: true,
    places: [
      named(
        // Shells.
        "\\.(?:bash|zsh|ksh|csh|tcsh|fish|sh|mksh)(?:rc|env|_?profile|_?login|_?logout|_aliases|_functions)",
        "\\.(?:profile|zprofile|zlogin|zlogout|zshenv|login|logout|cshrc|kshrc|shrc|inputrc|xinitrc|xprofile)",
        "\\.(?:xsession(?:rc)?|pam_environment|envrc|env(?:\\.(?!example|sample|template|dist|schema).+)?)",
        "\\.tool-versions|\\.?mise(?:\\..+)?\\.toml|crontab|config\\.fish",
        "profile\\.ps1|microsoft\\.powershell_profile\\.ps1",
        // Editors, debuggers and other programs of the user.
        "\\.(?:vimrc|gvimrc|exrc|nvimrc|nvim\\.lua|viminfo|emacs|emacs\\.el|dir-locals\\.el|screenrc|tmux\\.conf)",
        "\\.(?:gdbinit|lldbinit|lesskey|wgetrc|curlrc|psqlrc|sqliterc|irbrc|pryrc|rprofile|rprofile\\.site)",
        "\\.(?:pythonrc(?:\\.py)?|pdbrc(?:\\.py)?|perltidyrc|ackrc|ripgreprc|selected_editor|mailcap)",
        "\\.(?:forward|procmailrc|rhosts|shosts)",
        // System files.
        "etc/(?:profile|bash\\.bashrc|environment|passwd|shadow|group|sudoers|crontab|hosts|ld\\.so\\.preload)",
      ),
      within(
        "\\.config/(?:fish|autostart|autostart-scripts|systemd|environment\\.d|plasma-workspace|nvim|nushell)",
        "\\.config/(?:direnv|mise|zsh|bash|sway|i3|hypr|kitty|alacritty|wezterm|tmux)",
        "\\.direnv|\\.mise|\\.zsh|\\.bash_completion\\.d|\\.oh-my-zsh|\\.vim|\\.emacs\\.d",
        "\\.local/share/systemd|\\.local/share/applications|\\.local/bin",
        "library/(?:launchagents|launchdaemons|startupitems)|start menu/programs/startup",
        "etc/(?:cron[^/]*|init\\.d|rc[^/]*|profile\\.d|systemd|xdg|sudoers\\.d|pam\\.d|ld\\.so[^/]*|apt)",
        "etc/update-motd\\.d|cron/crontabs",
      ),
    ],
  },
  {
    why: "which may contain keys or login data",
    decidesCommands: false,
    places: [
      within("\\.ssh", "\\.gnupg", "\\.aws", "\\.azure", "\\.kube", "\\.docker", "\\.password-store"),
      within("\\.config/(?:gcloud|gh|hub|op)"),
      named("authorized_keys2?", "[._]netrc", "\\.git-credentials", "\\.pgpass", "\\.pypirc", "\\.htpasswd"),
    ],
  },
  {
    why: "which can give agents instructions or permissions",
    decidesCommands: false,
    places: [
      within(
        "\\.(?:claude|longhaul|codex|gemini|qwen|cursor|windsurf|codeium|opencode|pi|goose|continue|roo|cline)",
        "\\.(?:kiro|amazonq|augment|trae|aider|crush|junie|agents|openhands|zed|copilot|clinerules)",
        "\\.config/(?:opencode|goose|crush|github-copilot|zed|pi|codex)",
        "\\.github/(?:copilot[^/]*|instructions|prompts|agents|chatmodes)",
      ),
      named(
        "copilot-instructions\\.md|\\.?mcp(?:[-_.].*)?\\.json|\\.claude\\.json|opencode\\.jsonc?|crush\\.json",
        "\\.(?:cursor|windsurf|cline|roo|goose|aider)(?:rules|hints|ignore)?(?:[-.].*)?",
      ),
    ],
    cased: [
      spelled("AGENTS?(?:\\.override|\\.local)?\\.md", "CLAUDE(?:\\.local)?\\.md", "SKILL\\.md"),
      spelled("(?:GEMINI|QWEN|WARP|CRUSH|CONVENTIONS)\\.md", "replit\\.md"),
    ],
  },
  {
    ...BUILD,
    isOfProject: true,
    cased: [spelled("BUILD", "WORKSPACE", "WORKSPACE\\.bzlmod", "BUCK", "Kbuild", "Tupfile", "Doxyfile")],
    places: [
      named(
        // JavaScript: packages and their managers.
        "package\\.json|package-lock\\.json|npm-shrinkwrap\\.json|package\\.(?:ya?ml|json5)|\\.npmrc",
        "yarn\\.lock|\\.yarnrc(?:\\.ya?ml)?|pnpm-lock\\.ya?ml|\\.?pnpmfile\\.[cm]?js|pnpm-workspace\\.ya?ml",
        "bun\\.lockb?|bunfig\\.toml|\\.pnp\\.[cm]?js|deno\\.(?:jsonc?|lock)|binding\\.gyp|.+\\.gypi?",
        // JavaScript: tools and their settings.
        "(?:nx|project|turbo|lerna|rush|angular|nodemon|babel)\\.jsonc?|[tj]sconfig(?:[.-].+)?\\.json|\\.?swcrc",
        `(?:${CONFIGURED})\\.(?:conf(?:ig)?|setup|workspace|shared|base|common|dev|prod)(?:\\.[\\w-]+)*\\.(?:${SCRIPT}|json5?|ya?ml|toml|py)`,
        `(?:knexfile|ormconfig|plopfile|ember-cli-build|dangerfile|jest-preset)\\.(?:${SCRIPT}|json)`,
        "(?:tslint|cypress|cdk|firebase|vercel|netlify|wrangler|serverless|renovate|moon|melos)\\.(?:jsonc?|ya?ml|toml)",
        `\\.\\w+rc\\.${SCRIPT}|vitest\\.workspace\\..+`,
        "\\.(?:babel|eslint|prettier|stylelint|mocha|nyc|c8|jest|browserslist|commitlint|release|size-limit|cz|postcss|parcel|npmpackagejsonlint)rc(?:\\.\\w+)?",
        `(?:gulpfile|gruntfile|jakefile|cakefile|brunch-config)(?:\\.babel)?(?:\\.(?:${SCRIPT}|coffee))?`,
      ),
      named(
        // Make and other task runners.
        "(?:gnu|bsd)?makefile(?:\\.(?!md$).+)?|.+\\.(?:mk|mak|make)|\\.?justfile|taskfile(?:\\..+)?\\.ya?ml",
        "procfile(?:\\..+)?|maskfile\\.md|mprocs\\.ya?ml|process-compose\\.ya?ml|tiltfile|earthfile",
        // Ruby.
        "rakefile(?:\\.rb)?|gemfile(?:\\.lock)?|.+\\.gemspec|.+\\.(?:rake|thor)|gems\\.(?:rb|locked)|config\\.ru",
        "(?:steepfile|fastfile|dangerfile|appraisals)|guardfile|capfile|thorfile|vagrantfile|brewfile",
        "\\.rspec|spec_helper\\.rb|rails_helper\\.rb|podfile(?:\\.lock)?",
        // Containers.
        "(?:dockerfile|containerfile)(?:\\.(?!md$).+)?|.+\\.dockerfile|(?:docker-bake|terragrunt)\\.hcl",
        "(?:docker-)?compose(?:\\.[\\w-]+)*\\.ya?ml|docker-compose-[\\w.-]+\\.ya?ml|\\.devcontainer\\.json",
        // Python.
        "conftest\\.py|(?:setup|noxfile|fabfile|dodo|sitecustomize|usercustomize|hatch_build|pdm_build)\\.py",
        "conanfile\\.py|(?:sconstruct|sconscript|wscript|snakefile)|lit\\.cfg(?:\\.py)?|.+\\.pth",
        "(?:mkdocs|dvc)\\.ya?ml|ansible\\.cfg|(?:uv|poetry|pdm)\\.lock|pylock(?:\\..+)?\\.toml|constraints\\.txt",
        "(?:pyproject|pipfile|uv|poetry|pdm|hatch|ruff|pixi|pytest|tox|pylintrc|mypy)\\.toml|pylintrc|latexmkrc",
        "\\.?(?:setup|tox|pytest|mypy|isort)\\.(?:cfg|ini)|\\.(?:flake8|pylintrc|coveragerc)",
        "pipfile(?:\\.lock)?|requirements[\\w.-]*\\.(?:txt|in)",
        // Rust and Go.
        "cargo\\.(?:toml|lock)|build\\.rs|rust-toolchain(?:\\.toml)?|go\\.(?:mod|sum|work)|magefile\\.go",
        // Java, Scala and Clojure.
        "(?:build|settings|init)\\.gradle(?:\\.kts)?|.+\\.gradle(?:\\.kts)?|gradle\\.properties|gradlew(?:\\.bat)?",
        "mvnw(?:\\.cmd)?|pom\\.xml|build\\.(?:xml|sbt|sc|zig|mill|cake|boot|ninja)|.+\\.sbt",
        "project/(?:build\\.properties|plugins\\.sbt|[^/]+\\.sbt)",
        "(?:project\\.clj|bb\\.edn|deps\\.edn|shadow-cljs\\.edn)",
        // Other languages.
        "(?:mix|rebar)\\.(?:exs|config|config\\.script|lock)|config/[^/]+\\.exs|(?:dune|dune-project|dune-workspace)",
        ".+\\.(?:opam|cabal|nimble|rockspec)|(?:setup\\.hs|stack\\.yaml|cabal\\.project(?:\\..+)?|hie\\.yaml)",
        "(?:build\\.pl|config\\.nims|dub\\.(?:json|sdl)|premake5\\.lua|xmake\\.lua)|package\\.swift|pubspec\\.ya?ml",
        "(?:rector|ecs|robofile)\\.php|(?:phpstan\\.neon(?:\\.dist)?|psalm\\.xml|phpcs\\.xml(?:\\.dist)?)",
        "composer\\.(?:json|lock)|phpunit(?:\\.dist)?\\.xml(?:\\.dist)?",
        "(?:pants|bacon|cross|trunk|cliff|release|book)\\.toml",
        // C, .NET and builds for several languages.
        "cmakelists\\.txt|cmake(?:user)?presets\\.json|.+\\.cmake|configure(?:\\.ac|\\.in)?",
        "meson(?:_options|\\.build|\\.options)(?:\\.txt)?|(?:build|workspace|module)\\.bazel|.+\\.bzl",
        "\\.bazel(?:rc|iskrc)|(?:flake|default|shell)\\.nix|(?:devbox\\.json|devenv\\.(?:nix|ya?ml))",
        "directory\\.build\\.(?:props|targets)|nuget\\.config",
        ".+\\.(?:csproj|fsproj|vbproj|vcxproj|shproj|proj|sln|slnx|props|targets|rsp|code-workspace|sublime-project)",
        // CI servers.
        "jenkinsfile(?:\\..+)?|(?:cloudbuild|buildspec|codemagic|bitrise|skaffold)\\.ya?ml",
        "\\.?(?:gitlab-ci|travis|appveyor|azure-pipelines[\\w-]*|bitbucket-pipelines|drone|woodpecker|cirrus)\\.ya?ml",
      ),
      within(
        // Editors.
        "\\.vscode|\\.idea|\\.fleet|\\.vs|\\.devcontainer",
        // CI servers.
        "\\.github/(?:workflows|actions)|\\.circleci|\\.gitea|\\.forgejo|\\.buildkite",
        // Packages, and settings of package tools.
        "\\.cargo|\\.yarn|\\.mvn|\\.gradle|gradle/wrapper|buildsrc|node_modules|\\.bundle|mise-tasks",
        "\\.venv|venv|site-packages|\\.tox",
      ),
    ],
  },
];
