import { pathNames } from "../../node.ts";

/** A file that runs code later, or changes what an agent may do. Changing one asks each time. */
export interface GuardedFile {
  /** The end of a sentence that begins with its name: "which your shell runs when it starts". */
  readonly why: string;
  /** True where the file decides what a command such as `npm test` or `git commit` runs. */
  readonly decidesCommands: boolean;
}

interface GuardedKind extends GuardedFile {
  /** Matches the whole path in lower case, with `/` in front of each name. */
  readonly places: readonly RegExp[];
}

/** Recognizes a guarded file by its path alone. Git folders under other names are found by what lies in them. */
export function guardedFile(path: string): GuardedFile | undefined {
  if (path.length > LONGEST_PATH_CHARS) return undefined;
  const whole = `/${pathNames(path).join("/")}`;
  return KINDS.find(({ places }) => places.some((place) => place.test(whole)));
}

/** No system opens a longer one. */
const LONGEST_PATH_CHARS = 4_096;

/** A file of this name, in any folder. */
const named = (...names: readonly string[]): RegExp => new RegExp(`/(?:${names.join("|")})$`);
/** A folder of this name, and everything in it. */
const within = (...folders: readonly string[]): RegExp => new RegExp(`/(?:${folders.join("|")})(?:/|$)`);

const SCRIPT = "(?:[cm]?[jt]sx?)";

const KINDS: readonly GuardedKind[] = [
  {
    why: "where git keeps its settings and hooks",
    decidesCommands: true,
    places: [
      within("\\.git", "git~1", "\\.husky", "\\.githooks", "\\.git-hooks", "\\.lefthook", "\\.config/git"),
      named("\\.gitconfig.*", "\\.gitmodules", "head", "lefthook(?:-local)?\\.(?:ya?ml|toml|json)"),
      named("\\.pre-commit-config\\.ya?ml", "\\.overcommit\\.yml", "\\.lintstagedrc(?:\\.\\w+)?"),
      within("\\.hg", "\\.svn", "\\.bzr", "\\.jj"),
      named("\\.hgrc", "commondir", "gitdir"),
    ],
  },
  {
    why: "which the shell or another program runs when it starts",
    decidesCommands: true,
    places: [
      named(
        "\\.(?:bash|zsh|ksh|csh|tcsh|fish|sh|mksh)(?:rc|env|_?profile|_?login|_?logout|_aliases|_functions)",
        "\\.(?:profile|zprofile|zlogin|zlogout|zshenv|login|logout|cshrc|kshrc|shrc|inputrc|xinitrc|xprofile|xsession(?:rc)?|xsessionrc|pam_environment)",
        "\\.(?:vimrc|gvimrc|exrc|nvimrc|nvim\\.lua|viminfo|emacs|emacs\\.el|dir-locals\\.el|screenrc|tmux\\.conf|gdbinit|lldbinit|lesskey|wgetrc|curlrc|psqlrc|sqliterc|irbrc|pryrc|rprofile|rprofile\\.site|pythonrc(?:\\.py)?|pdbrc(?:\\.py)?|perltidyrc|ackrc|ripgreprc|selected_editor|mailcap|forward|procmailrc|rhosts|shosts)",
        "\\.envrc",
        "\\.env(?:\\.(?!example|sample|template|dist|schema).+)?",
        "\\.tool-versions",
        "\\.?mise(?:\\..+)?\\.toml",
        "crontab",
        "config\\.fish",
        "profile\\.ps1",
        "microsoft\\.powershell_profile\\.ps1",
      ),
      within(
        "\\.config/(?:fish|autostart|autostart-scripts|systemd|environment\\.d|plasma-workspace|nvim|nushell|direnv|mise|zsh|bash|sway|i3|hypr|kitty|alacritty|wezterm|tmux)",
        "\\.direnv",
        "\\.mise",
        "\\.zsh",
        "\\.bash_completion\\.d",
        "\\.oh-my-zsh",
        "\\.vim",
        "\\.emacs\\.d",
        "\\.local/share/systemd",
        "\\.local/share/applications",
        "\\.local/bin",
        "library/(?:launchagents|launchdaemons|startupitems|services)",
        "start menu/programs/startup",
        "etc/(?:cron[^/]*|init\\.d|rc[^/]*|profile\\.d|systemd|xdg|sudoers\\.d|pam\\.d|ld\\.so[^/]*|apt|update-motd\\.d)",
        "cron/crontabs",
      ),
      named(
        "etc/(?:profile|bash\\.bashrc|environment|passwd|shadow|group|sudoers|crontab|hosts|ld\\.so\\.preload)",
      ),
    ],
  },
  {
    why: "where keys and permissions to log in are kept",
    decidesCommands: false,
    places: [
      within("\\.ssh", "\\.gnupg", "\\.aws", "\\.azure", "\\.kube", "\\.docker", "\\.password-store"),
      within("\\.config/(?:gcloud|gh|hub|op)"),
      named("authorized_keys2?", "[._]netrc", "\\.git-credentials", "\\.pgpass", "\\.pypirc", "\\.htpasswd"),
    ],
  },
  {
    why: "which tells agents what to do, or what they may do",
    decidesCommands: false,
    places: [
      within(
        "\\.(?:claude|longhaul|codex|gemini|qwen|cursor|windsurf|codeium|opencode|pi|goose|continue|roo|cline|kiro|amazonq|augment|trae|aider|crush|junie|agents|openhands|zed|copilot)",
        "\\.config/(?:opencode|goose|crush|github-copilot|zed|pi|codex)",
        "\\.clinerules",
        "\\.github/(?:copilot[^/]*|instructions|prompts|agents|chatmodes)",
      ),
      named(
        "agents(?:\\.override|\\.local)?\\.md",
        "claude(?:\\.local)?\\.md",
        "gemini\\.md",
        "qwen\\.md",
        "skill\\.md",
        "copilot-instructions\\.md",
        "\\.?mcp(?:[-_.].*)?\\.json",
        "\\.claude\\.json",
        "\\.(?:cursor|windsurf|cline|roo|goose|aider)(?:rules|hints|ignore)?(?:[-.].*)?",
        "opencode\\.jsonc?",
        "crush\\.json",
      ),
    ],
  },
  {
    why: "which decides what the project's commands, its build or its editor run",
    decidesCommands: true,
    places: [
      named(
        "package\\.json",
        "package-lock\\.json",
        "npm-shrinkwrap\\.json",
        "yarn\\.lock",
        "pnpm-lock\\.ya?ml",
        "bun\\.lockb?",
        "\\.npmrc",
        "\\.yarnrc(?:\\.ya?ml)?",
        "\\.?pnpmfile\\.[cm]?js",
        "pnpm-workspace\\.ya?ml",
        "bunfig\\.toml",
        "\\.pnp\\.[cm]?js",
        "deno\\.(?:jsonc?|lock)",
        "(?:nx|project|turbo|lerna|rush|workspace|angular|nodemon|babel)\\.json",
        "\\.?swcrc",
        `[\\w-]+\\.conf(?:ig)?(?:\\.[\\w-]+)*\\.${SCRIPT}`,
        `\\.\\w+rc\\.${SCRIPT}`,
        "\\.(?:babel|eslint|prettier|stylelint|mocha|nyc|c8|jest|browserslist|commitlint|release|size-limit|cz|postcss|parcel|npmpackagejsonlint)rc(?:\\.\\w+)?",
        `(?:gulpfile|gruntfile|jakefile|cakefile|brunch-config)(?:\\.babel)?\\.${SCRIPT}`,
        "vitest\\.workspace\\..+",
      ),
      named(
        "(?:gnu|bsd)?makefile(?:\\..+)?",
        ".+\\.(?:mk|mak|make)",
        "\\.?justfile",
        "taskfile(?:\\..+)?\\.ya?ml",
        "rakefile(?:\\.rb)?",
        "gemfile(?:\\.lock)?",
        ".+\\.gemspec",
        "guardfile",
        "capfile",
        "thorfile",
        "vagrantfile",
        "\\.rspec",
        "spec_helper\\.rb",
        "rails_helper\\.rb",
        "brewfile",
        "procfile(?:\\..+)?",
        "(?:dockerfile|containerfile)(?:\\..+)?",
        ".+\\.dockerfile",
        "(?:docker-)?compose(?:[.-].+)?\\.ya?ml",
        "conftest\\.py",
        "(?:setup|noxfile|fabfile|dodo|sitecustomize|usercustomize)\\.py",
        "(?:pyproject|pipfile|uv|poetry|pdm|hatch|ruff|\\.ruff|pixi)\\.toml",
        "\\.?(?:setup|tox|pytest|mypy|isort)\\.(?:cfg|ini)",
        "\\.(?:flake8|pylintrc|coveragerc)",
        "pipfile(?:\\.lock)?",
        "requirements[\\w.-]*\\.(?:txt|in)",
        ".+\\.pth",
        "cargo\\.(?:toml|lock)",
        "build\\.rs",
        "rust-toolchain(?:\\.toml)?",
        "go\\.(?:mod|sum|work)",
        "(?:build|settings|init)\\.gradle(?:\\.kts)?",
        ".+\\.gradle(?:\\.kts)?",
        "gradle\\.properties",
        "gradlew(?:\\.bat)?",
        "mvnw(?:\\.cmd)?",
        "pom\\.xml",
        "build\\.(?:xml|sbt|sc|zig|mill)",
        ".+\\.sbt",
        "(?:mix|rebar)\\.(?:exs|config)",
        "composer\\.(?:json|lock)",
        "phpunit(?:\\.dist)?\\.xml(?:\\.dist)?",
        "cmakelists\\.txt",
        "cmake(?:user)?presets\\.json",
        ".+\\.cmake",
        "configure(?:\\.ac|\\.in)?",
        "meson(?:_options|\\.build|\\.options)(?:\\.txt)?",
        "(?:build|workspace|module)\\.bazel",
        ".+\\.bzl",
        "\\.bazel(?:rc|iskrc)",
        "(?:flake|default|shell)\\.nix",
        "directory\\.build\\.(?:props|targets)",
        ".+\\.(?:csproj|fsproj|vbproj|vcxproj|sln|props|targets|code-workspace)",
        "nuget\\.config",
        "global\\.json",
        "jenkinsfile(?:\\..+)?",
        "\\.?(?:gitlab-ci|travis|appveyor|azure-pipelines|bitbucket-pipelines|drone|woodpecker)\\.ya?ml",
        "\\.devcontainer\\.json",
        "package\\.swift",
        "podfile(?:\\.lock)?",
        "pubspec\\.ya?ml",
        "tiltfile",
        "earthfile",
      ),
      within(
        "\\.vscode",
        "\\.idea",
        "\\.fleet",
        "\\.vs",
        "\\.devcontainer",
        "\\.github/(?:workflows|actions)",
        "\\.circleci",
        "\\.gitea",
        "\\.forgejo",
        "\\.buildkite",
        "\\.cargo",
        "\\.yarn",
        "\\.mvn",
        "\\.gradle",
        "gradle/wrapper",
        "node_modules",
        "\\.venv",
        "venv",
        "site-packages",
        "\\.tox",
        "\\.bundle",
      ),
    ],
  },
];
