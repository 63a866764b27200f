import type { TokenAccounting } from "./accounting.ts";

/** The accounting as flat names and numbers, for events and dashboards. No content, only counts. */
export function accountingMetrics(accounting: TokenAccounting): Readonly<Record<string, number>> {
  const duplicateTokens = accounting.duplicateReads.reduce((sum, read) => sum + read.wastedTokens, 0);
  const tokens: [string, number][] = [
    ["human_message", accounting.humanText],
    ["assistant_message", accounting.assistantText],
    ["local_command_output", accounting.localCommandOutput],
    ["other", accounting.other],
    ["duplicate_read", duplicateTokens],
    ["tool_request", accounting.toolRequestTokens],
    ["tool_result", accounting.toolResultTokens],
    ...[...accounting.toolRequests].map(([tool, count]): [string, number] => [`tool_request_${tool}`, count]),
    ...[...accounting.toolResults].map(([tool, count]): [string, number] => [`tool_result_${tool}`, count]),
  ];
  return Object.fromEntries([
    ["total_tokens", accounting.total],
    ...tokens.map(([name, count]) => [`${name}_tokens`, count]),
    ["duplicate_read_file_count", accounting.duplicateReads.length],
    ...[...accounting.attachments].map(([type, count]) => [`attachment_${type}_count`, count]),
    ...percentages(tokens, accounting.total),
  ]);
}

function percentages(tokens: readonly [string, number][], total: number): [string, number][] {
  if (total === 0) return [];
  return tokens.map(([name, count]) => [`${name}_percent`, Math.round((count / total) * 100)]);
}
