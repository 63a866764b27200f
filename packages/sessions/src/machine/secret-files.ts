/**
 * Checks whether a file has a well-known name that indicates credentials. The agent reads these files only
 * after asking, and no compaction restores them. A secret under any other name is not recognized.
 */
export function isSecretFile(path: string): boolean {
  if (path.length > LONGEST_PATH_CHARS) return false;
  const names = pathNames(path);
  const name = names.at(-1) ?? "";
  if (PUBLIC_NAMES.test(name)) return false;
  if (SECRET_NAMES.test(name) || SECRET_ENDINGS.test(name)) return true;
  const whole = `/${names.join("/")}`;
  return SECRET_PLACES.some((place) => place.test(whole));
}

/** Maximum path length. No system opens a longer path. */
const LONGEST_PATH_CHARS = 4_096;

/** Names of templates without values, and of public keys. */
const PUBLIC_NAMES =
  /^(?:\.env(?:\..+)?\.(?:example|sample|template|dist|schema)|\.env\.(?:example|sample|template|dist|schema|d\.ts)|known_hosts(?:\.old)?|[^.].*\.pub)$/;

const SECRET_NAMES = new RegExp(
  `^(?:${[
    "\\.env(?:[^a-z].*)?",
    ".+\\.env",
    "\\.envrc(?:\\..*)?",
    "\\.dev\\.vars(?:\\..+)?",
    "\\.vault_pass.*",
    "\\.(?:sentryclirc|authinfo(?:\\.gpg)?|ftpconfig|databrickscfg|histfile|zhistory|credentials)",
    "sftp(?:-config)?\\.json",
    "oauth_creds\\.json",
    "pip\\.conf",
    "wp-config\\.php",
    "wallet\\.dat",
    "kaggle\\.json",
    "fish_history",
    "krb5cc_.*",
    "[._]netrc",
    "\\.pgpass",
    "pgpass\\.conf",
    "\\.my\\.cnf",
    "\\.mylogin\\.cnf",
    "\\.git-credentials",
    "\\.gitcookies",
    "\\.npmrc",
    "\\.yarnrc(?:\\.yml)?",
    "\\.pypirc",
    "\\.dockercfg",
    "\\.htpasswd",
    "\\.vault-token",
    "\\.boto",
    "\\.s3cfg",
    "\\.rclone\\.conf",
    "rclone\\.conf",
    "\\.(?:bash|zsh|sh|psql|mysql|sqlite|python|node_repl)_history",
    "id_(?:rsa|dsa|ecdsa|ed25519)(?:[._-].*)?",
    "(?:private|deploy)_key(?:\\.(?:pem|txt|json|key|asc))?",
    "authorized_keys2?",
    "kubeconfig(?:\\..+)?",
    "sudoers",
    "master\\.passwd",
    ".*credentials.*\\.(?:json|ya?ml|toml|ini|xml|csv)",
    "(?:keystore|key)\\.properties",
    ".*firebase-adminsdk.*\\.json",
    "(?:gcp|gcloud|google)[-_]?(?:key|sa|service).*\\.json",
    "\\.credentials\\.json",
    "secrets?\\.(?:json|ya?ml|toml|ini|properties)",
    "secrets\\.txt",
    "\\.secrets?",
    "client_secrets?.*\\.json",
    "(?:.+[._-])?service[_-]?account.*\\.json",
    "application_default_credentials\\.json",
    "login data(?: for account)?",
    "cookies\\.sqlite",
    "logins\\.json",
    "key[34]\\.db",
  ].join("|")})$`,
);

const SECRET_ENDINGS =
  /.\.(?:pem|key|p8|pk8|p12|pfx|jks|keystore|keytab|kdbx?|ppk|snk|gpg|pgp|ovpn|mobileprovision|kubeconfig|tfstate(?:\..*)?|tfvars(?:\.json)?)$/;

/** Patterns of secret folders, and of files that are secret only in a certain folder. */
const SECRET_PLACES: readonly RegExp[] = [
  /\/\.ssh\//,
  /\/\.gnupg\//,
  /\/\.aws\//,
  /\/\.(?:cargo|gem|config|local)\/(?:.+\/)?credentials(?:\.\w+)?$/,
  /\/(?:google-chrome|chromium|brave[^/]*|microsoft-edge|\.mozilla)\/(?:.+\/)?cookies$/,
  /\/\.azure\//,
  /\/\.config\/(?:gcloud|gh|hub|op|sops|age|doctl|rclone|github-copilot|solana)(?:\/|$)/,
  /\/\.config\/pypoetry\/auth\.toml$/,
  /\/\.cache\/huggingface\/token$/,
  /\/\.(?:oci|bundle)\/config$/,
  /\/\.subversion\/auth\//,
  /\/\.kamal\/secrets/,
  /\/(?:\.codex|\.composer|composer|opencode|agent)\/auth\.json$/,
  /\/\.claude\.json$/,
  /\/etc\/wireguard\//,
  /\/\.kube\/(?:config|cache\/)/,
  /\/\.docker\/config\.json$/,
  /\/\.password-store\//,
  /\/\.m2\/settings(?:-security)?\.xml$/,
  /\/\.gradle\/gradle\.properties$/,
  /\/\.terraform\.d\//,
  /\/\.local\/share\/(?:keyrings|kwalletd)\//,
  /\/library\/keychains\//,
  /\/library\/cookies\//,
  /\/proc\/(?:[^/]+\/)+(?:environ|mem|maps|fd)(?:\/|$)/,
  /\/etc\/(?:g?shadow-?$|ssl\/private|ssh\/ssh_host_|sudoers\.d|security\/opasswd)/,
  /\/run\/secrets\//,
  /\/\.git\/(?:modules\/.+\/)?config(?:\.worktree)?$/,
];

/**
 * Splits a path into names for comparison with lists of well-known files. Names are in lower case, because
 * some disks do not distinguish `.GIT` from `.git`. Removes characters and endings that some disks ignore.
 */
export function pathNames(path: string): readonly string[] {
  return path
    .split(/[\\/]/)
    .map((name) =>
      name
        .normalize("NFKC")
        .replace(/\p{Cf}/gu, "")
        .replace(/::\$.*$/, "")
        .replace(/(?<=[^.])[. ]+$/, "")
        .toLowerCase(),
    )
    .filter((name) => name !== "");
}
