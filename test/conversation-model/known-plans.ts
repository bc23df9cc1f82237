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

/** Interleavings that random plans rarely produce. Each of them has revealed a bug. */
export const knownPlans: Plan[] = [
  // An answer whose process is dead ends after the person has handed the conversation back.
  [
    [{ ...slow, leaveAfter: 16 }],
    [{ ...at(0, 0), do: 'kill' }],
    [{ ...at(0, 1), do: 'takeover', member: 0, back: true }],
  ],
  // An answer that was silenced by a takeover is stopped before its process knows of either.
  [
    [slow],
    [
      { ...at(0, 0), do: 'freeze', ms: 300 },
      { ...at(20, 1), do: 'takeover', member: 0, back: false },
      { ...at(80, 1), do: 'stop' },
      { ...at(150, 1), do: 'handback' },
    ],
  ],
  // A continuation failed, and a retry cuts off the message that it would have continued.
  [
    [{ ...slow, leaveAfter: null, script: { ...plainScript, calls: 1 } }],
    [{ ...at(0, 0), do: 'tool-result', which: 'all', times: 2 }],
    [{ ...slow, do: 'continue', script: { ...plainScript, fault: 'refuse' } }],
    [{ ...slow, do: 'retry', which: 1, script: plainScript }],
  ],
  // There are more messages than the model is sent, and the oldest one sent is an answer.
  [
    ...Array.from({ length: 19 }, (): Command[] => [plain]),
    [{ ...plain, script: { ...plainScript, fault: 'refuse' } }],
  ],
]
