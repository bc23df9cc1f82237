/** The only sentences that the responder writes itself. Questions come last in what they are joined to. */
export type Phrases = {
  hello: string
  thanks: string
  goodbye: string
  /** Follows an "ok", praise, or a "no". */
  allRight: string
  /** Follows the wish to ask something. */
  help: string
  /** Says what the responder is; `{name}` is the agent's name. */
  identity: string
  /** Introduces passages that may not answer the question. */
  closest: string
  decline: string
  /** Offers a person. */
  offer: string
  /** Says what to do next if no person can be offered. */
  rephrase: string
  /** Declines if there are no documents. */
  unknown: string
  /** Introduces a list of what the documents are about. */
  topics: string
  /** Declines one of several questions, `{question}`. */
  noAnswerTo: string
  /** Follows a complaint about an answer. */
  sorry: string
  /** Says that a person can be asked for. */
  sayPerson: string
  /** Follows a request for a person if nobody can be called. */
  noPerson: string
  /** Introduces a passage with a telephone number or an address. */
  reach: string
}
