/** The fake model's reply to one request. */
export type Script = {
  words: number
  /** The delay before each word, in milliseconds. */
  pace: number
  /** The number of client actions that it calls at the end. */
  calls: number
  /** Whether it first calls an action that does not exist, which leads to another step. */
  wrongCall: boolean
  /** `unfinished` sends all words and calls but not the end. */
  fault: 'none' | 'refuse' | 'unavailable' | 'drop' | 'stall' | 'unfinished'
  /** The number of words before the connection is cut or goes silent. */
  faultAfter: number
}

export type Chat = {
  stream: boolean
  /** The number of events after which the reader of a stream disconnects, or null if it stays. */
  leaveAfter: number | null
  script: Script
}

type Doing =
  | ({ do: 'send' } & Chat)
  | ({ do: 'continue' } & Chat)
  /** `which` counts back from the newest answer. Numbers beyond the first answer refer to none. */
  | ({ do: 'retry'; which: number } & Chat)
  | { do: 'stop' }
  /** Submits a result `times` times to the newest waiting call, to the next one, or to `all` of them. */
  | { do: 'tool-result'; which: number | 'all'; times: number }
  | { do: 'expire'; sweep: boolean }
  /**
   * `back` is how far the last event id that the reader sends lies behind the newest event received; with null, it
   * sends none.
   */
  | { do: 'reload'; back: number | null }
  | { do: 'pause' }
  | { do: 'resume' }
  /** `back` means that the person hands the conversation back at once. */
  | { do: 'takeover'; member: number; back: boolean }
  | { do: 'handback' }
  | { do: 'kill' }
  /** Freezes the process for `ms` milliseconds. */
  | { do: 'freeze'; ms: number }

/** One request or fault at process number `on`, `after` milliseconds from the start of its batch. */
export type Command = { after: number; on: number } & Doing

/** Batches that run one after the other. The commands of a batch run at the same time. */
export type Plan = Command[][]

export const plainScript: Script = {
  words: 4,
  pace: 0,
  calls: 0,
  wrongCall: false,
  fault: 'none',
  faultAfter: 0,
}
