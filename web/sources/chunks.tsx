export const Chunks = (_: { agentId: string; sourceId: string }) => null
