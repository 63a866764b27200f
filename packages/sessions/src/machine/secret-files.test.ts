import { describe, expect, it } from "vitest";
import { isSecretFile } from "./secret-files.ts";

describe("isSecretFile", () => {
  it.each([
    "/home/ann/.ssh/id_rsa",
    "/home/ann/.ssh/config",
    "/home/ann/.SSH/anything",
    "/home/ann/.aws/credentials",
    "/home/ann/.config/gh/hosts.yml",
    "/home/ann/.docker/config.json",
    "/home/ann/.kube/config",
    "/home/ann/.netrc",
    "/home/ann/.npmrc",
    "/home/ann/.bash_history",
    "/home/ann/.claude/.credentials.json",
    "/home/ann/.codex/auth.json",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh/ssh_host_ed25519_key",
    "/proc/self/environ",
    "/proc/self/task/1/environ",
    "/run/secrets/db",
    "project/.env",
    "project/.env.local",
    "project/.ENV",
    "project/.e\u200bnv",
    "project/.env.",
    "project/certs/server.key",
    "project/id_ed25519",
    "project/credentials.json",
    "project/prod.tfvars",
    "project/production.env",
    "project/.env~",
    "project/kubeconfig.yaml",
    "project/aws-credentials.csv",
    "project/id_rsa_deploy",
    "project/terraform.tfstate.1.backup",
    "project/.git/config",
    "C:\\Users\\ann\\.ssh\\id_rsa",
  ])("%j is a secret file", (path) => {
    expect(isSecretFile(path)).toBe(true);
  });

  it.each([
    "project/.env.example",
    "project/.env.local.example",
    "project/src/env.ts",
    "project/src/keys.ts",
    "project/src/credentials.ts",
    "project/docs/secrets.md",
    "project/key.ts",
    "/home/ann/.ssh/id_rsa.pub",
    "/home/ann/.ssh/known_hosts",
    "project/.gitignore",
    "project/README.md",
    "project/shadow.css",
    "project/locales/en/auth.json",
    "project/src/cookies",
    "project/src/credentials",
    "project/src/shadow",
    "project/src/private_key_test.go",
    "project/docs/guide.asc",
    "project/src/.key",
    "project/src/environment.ts",
    "project/.environment",
    "",
  ])("%j is not a secret file", (path) => {
    expect(isSecretFile(path)).toBe(false);
  });
});
