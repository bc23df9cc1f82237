export const ANALYSE_CONVERSATIONS = 'analyse-conversations'

/** A conversation, and the moment until which it is held: as long as the row says the same, nothing has happened in it. */
export type Claim = { id: string; held: string }

export type AnalyseConversations = { claims: Claim[] }
