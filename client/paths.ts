/** The paths of the API that the client requests. The tests compare them with the contracts of the service. */
const CONVERSATION = '/agents/{agentId}/conversations/{conversationId}'
export const PATHS = {
  chat: '/agents/{agentId}/chat',
  runPlayground: '/agents/{agentId}/playground/runs',
  retry: `${CONVERSATION}/retry`,
  reattach: `${CONVERSATION}/stream`,
  stop: `${CONVERSATION}/stop`,
  submitToolResult: `${CONVERSATION}/tool-result`,
  listMessages: `${CONVERSATION}/messages`,
} as const

/** Returns the path with the names in braces replaced by their values. */
export function pathTo(name: keyof typeof PATHS, values: Record<string, string>): string {
  return PATHS[name].replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ''))
}
