/** What the fake model says to one request. */
export type Script = {
  words: number
  /** Milliseconds before each word. */
  pace: number
  /** Client actions that it calls in the end. */
  calls: number
  /** It calls an action that is not there first; another step follows. */
  wrongCall: boolean
  /** `unfinished`: all is said and called, but the end does not come. */
  fault: 'none' | 'refuse' | 'unavailable' | 'drop' | 'stall' | 'unfinished'
  /** Words before the connection is cut or goes silent. */
  faultAfter: number
}

export type Chat = {
  stream: boolean
  /** The reader of a stream goes away after so many events; null: it stays. */
  leaveAfter: number | null
  script: Script
}

type Doing =
  | ({ do: 'send' } & Chat)
  | ({ do: 'continue' } & Chat)
  /** `which` counts back from the newest answer; what is beyond them is no answer. */
  | ({ do: 'retry'; which: number } & Chat)
  | { do: 'stop' }
  /** The newest call that waits, or the one after it, or `all` of them; each gets so many results. */
  | { do: 'tool-result'; which: number | 'all'; times: number }
  | { do: 'expire'; sweep: boolean }
  /** `back`: events before the newest one heard that the reader says to have seen; null: says nothing. */
  | { do: 'reload'; back: number | null }
  | { do: 'pause' }
  | { do: 'resume' }
  /** `back`: and gives it back at once. */
  | { do: 'takeover'; member: number; back: boolean }
  | { do: 'handback' }
  | { do: 'kill' }
  /** The process does nothing for so many milliseconds. */
  | { do: 'freeze'; ms: number }

/** One request or fault, `after` milliseconds from the beginning of its batch, at the process number `on`. */
export type Command = { after: number; on: number } & Doing

/** Batches one after the other; the commands of a batch at the same time. */
export type Plan = Command[][]

export const plainScript: Script = {
  words: 4,
  pace: 0,
  calls: 0,
  wrongCall: false,
  fault: 'none',
  faultAfter: 0,
}
