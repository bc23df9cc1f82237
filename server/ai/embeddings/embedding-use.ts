/** For whom texts are embedded. */
export type Owner = {
  accountId: string
  agentId: string
  /** Whether the team tries out the agent. */
  isTrial?: boolean | undefined
}

/** What was sent to an embedding model. */
export type EmbeddingUse = {
  model: string
  texts: number
  tokens: number
  /** How many of the tokens are estimated, because the server does not say how many there were. */
  estimated: number
  /** US dollars; null if the price is not known. */
  dollars: number | null
}

/** A request to an embedding model that has ended; `tokens` and `error` are null where there are none. */
export type EmbeddingCall = {
  owner: Owner | null
  model: string
  /** Whether the model runs in a process of the service. */
  isLocal: boolean
  tokens: number | null
  error: unknown
  startedAt: number
}

const MILLION = 1_000_000

/** Returns what tokens cost at a price in US dollars for a million; null if it is not known. */
export const costOf = (tokens: number, price: number | null): number | null =>
  price === null ? null : (tokens * price) / MILLION

/** Returns the uses of one model as one. */
export const sumOfUses = (uses: readonly EmbeddingUse[]): EmbeddingUse =>
  uses.reduce((sum, { model, texts, tokens, estimated, dollars }) => ({
    model,
    texts: sum.texts + texts,
    tokens: sum.tokens + tokens,
    estimated: sum.estimated + estimated,
    dollars: sum.dollars === null || dollars === null ? null : sum.dollars + dollars,
  }))
