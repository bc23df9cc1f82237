/** The background job that brings an agent's ticket sources in line with its solved tickets. */
export const GATHER_TICKETS = 'gather-tickets'
export type GatherTickets = { agentId: string }
