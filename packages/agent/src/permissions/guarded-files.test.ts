import { describe, expect, it } from "vitest";
import { guardedFile } from "./guarded-files.ts";

describe("guardedFile", () => {
  it.each([
    ...[".bashrc", ".zshrc", ".profile", ".bash_profile", ".config/fish/config.fish", ".envrc", ".vimrc"],
    ...[".config/autostart/x.desktop", "Library/LaunchAgents/x.plist", ".config/systemd/user/x.service"],
    ...[".ssh/authorized_keys", ".ssh/config", ".gitconfig", ".gitconfig.local", ".config/git/config"],
    ...[".git/hooks/pre-commit", ".git", ".GIT/config", "git~1/config", ".g\u200cit/config", ".git./config"],
    ...[".husky/pre-commit", ".githooks/x", "sub/HEAD", ".gitmodules", ".pre-commit-config.yaml"],
    ...[".npmrc", ".yarnrc.yml", "package.json", "packages/a/package.json", "PACKAGE.JSON", "package.json."],
    ...["Makefile", "GNUmakefile", "rules.mk", "justfile", "conftest.py", "tests/conftest.py", "setup.py"],
    ...["pyproject.toml", "tox.ini", "build.rs", "Cargo.toml", ".cargo/config.toml", "build.gradle.kts"],
    ...["pom.xml", "CMakeLists.txt", "Dockerfile", "compose.yaml", ".github/workflows/ci.yml"],
    ...["tsconfig.json", "tsconfig.build.json", "jsconfig.json"],
    ...[
      "vite.config.ts",
      "vitest.config.mjs",
      "eslint.config.js",
      ".eslintrc.cjs",
      "karma.conf.js",
      "gulpfile.js",
    ],
    ...[".vscode/tasks.json", ".vscode/settings.json", ".devcontainer/devcontainer.json", "x.code-workspace"],
    ...[
      ".mcp.json",
      "mcp.json",
      "AGENTS.md",
      "docs/CLAUDE.md",
      "CLAUDE.local.md",
      "GEMINI.md",
      ".cursorrules",
    ],
    ...[
      ".claude/settings.json",
      ".claude/skills/a/SKILL.md",
      ".claude/commands/x.md",
      ".longhaul/settings.json",
    ],
    ...[".codex/config.toml", ".opencode/agent/x.md", "opencode.json", ".github/copilot-instructions.md"],
    ...["node_modules/vitest/index.js", ".venv/bin/pytest", "lib/site-packages/x.pth"],
    ...[
      "/etc/cron.d/x",
      "/etc/profile",
      "/etc/sudoers",
      "C:\\Users\\ann\\.ssh\\config",
      ".env",
      ".env.local",
    ],
  ])("%s is a guarded file", (path) => {
    expect(guardedFile(path)).toBeDefined();
  });

  it.each([
    ...[
      "src/a.ts",
      "src/config.ts",
      "src/head.ts",
      "src/setup.ts",
      "README.md",
      "docs/agents-guide.md",
      "a.json",
    ],
    ...[".gitignore", ".gitattributes", ".editorconfig", "src/git.ts", ".env.example", "tasks.py"],
    ...["src/objects/x.ts", "refs/x", "config", "src/package.ts", "make.ts", "docker.md", "src/claude/x.ts"],
    ...["test/vite.test.ts", "index.html", ".prettierignore", "LICENSE"],
  ])("%s is not a guarded file", (path) => {
    expect(guardedFile(path)).toBeUndefined();
  });

  it("uses both the full path and the path inside the project to decide whether a file is guarded", () => {
    expect(guardedFile("/home/ann/.claude/worktrees/x/src/a.ts", "src/a.ts")).toBeUndefined();
    expect(guardedFile("/home/ann/project/messages.properties", "messages.properties")).toBeUndefined();
    expect(guardedFile("/home/ann/.claude/settings.json", "settings.json")).toBeDefined();
    expect(guardedFile("/srv/app/.foorc", ".foorc")).toBeDefined();
    expect(guardedFile("/srv/app/ava.config.js", "ava.config.js")).toBeDefined();
    expect(guardedFile("/srv/app/src/ava.config.js", "src/ava.config.js")).toBeUndefined();
    expect(guardedFile("/srv/app/.github/CODEOWNERS", ".github/CODEOWNERS")).toBeUndefined();
  });

  it("reports whether a guarded file decides what code a command runs", () => {
    expect(guardedFile("package.json")?.decidesCommands).toBe(true);
    expect(guardedFile(".git/hooks/x")?.decidesCommands).toBe(true);
    expect(guardedFile("AGENTS.md")?.decidesCommands).toBe(false);
    expect(guardedFile(".ssh/config")?.decidesCommands).toBe(false);
  });
});
