import { type Chat, type Command, type Plan, plainScript } from './commands.ts'

const slow: Command & Chat = {
  after: 0,
  on: 0,
  do: 'send',
  stream: true,
  leaveAfter: 5,
  script: { ...plainScript, words: 18, pace: 100 },
}
const plain: Command & Chat = { ...slow, stream: false, leaveAfter: null, script: plainScript }
const at = (after: number, on: number) => ({ after, on })

/** Interleavings that chance finds seldom, each of which went wrong once. */
export const knownPlans: Plan[] = [
  // An answer whose process is gone ends after the person has given the conversation back.
  [
    [{ ...slow, leaveAfter: 16 }],
    [{ ...at(0, 0), do: 'kill' }],
    [{ ...at(0, 1), do: 'takeover', member: 0, back: true }],
  ],
  // Somebody stops an answer that a takeover has silenced, before its process knows of either.
  [
    [slow],
    [
      { ...at(0, 0), do: 'freeze', ms: 300 },
      { ...at(20, 1), do: 'takeover', member: 0, back: false },
      { ...at(80, 1), do: 'stop' },
      { ...at(150, 1), do: 'handback' },
    ],
  ],
  // A continuation failed, and a retry cuts the message that it would have gone on with.
  [
    [{ ...slow, leaveAfter: null, script: { ...plainScript, calls: 1 } }],
    [{ ...at(0, 0), do: 'tool-result', which: 'all', times: 2 }],
    [{ ...slow, do: 'continue', script: { ...plainScript, fault: 'refuse' } }],
    [{ ...slow, do: 'retry', which: 1, script: plainScript }],
  ],
  // More messages than the model is shown, and the oldest of those is an answer.
  [
    ...Array.from({ length: 19 }, (): Command[] => [plain]),
    [{ ...plain, script: { ...plainScript, fault: 'refuse' } }],
  ],
]
