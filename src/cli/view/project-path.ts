/** Paths are shown as the agent's user thinks of them: from the project on. */
export function inProject(subject: string, cwd: string | null): string {
  return cwd !== null && /^[\\/]/.test(subject.slice(cwd.length)) && subject.startsWith(cwd)
    ? subject.slice(cwd.length + 1)
    : subject;
}
