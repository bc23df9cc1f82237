import fc from 'fast-check'

/** What the fake model says to one request. */
export type Script = {
  words: number
  /** Milliseconds before each word. */
  pace: number
  /** Client actions that it calls in the end. */
  calls: number
  /** It calls an action that is not there first; another step follows. */
  wrongCall: boolean
  fault: 'none' | 'refuse' | 'unavailable' | 'drop' | 'stall'
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
  | { do: 'tool-result'; which: number; times: number }
  | { do: 'expire'; sweep: boolean }
  /** `back`: events before the newest one heard that the reader says to have seen; null: says nothing. */
  | { do: 'reload'; back: number | null }
  | { do: 'pause' }
  | { do: 'resume' }
  | { do: 'takeover'; member: number }
  | { do: 'handback' }
  | { do: 'kill' }

/** One request or fault, `after` milliseconds from the beginning of its batch, at the process number `on`. */
export type Command = { after: number; on: number } & Doing

/** Batches one after the other; the commands of a batch at the same time. */
export type Plan = Command[][]

const script: fc.Arbitrary<Script> = fc.record({
  words: fc.integer({ min: 0, max: 12 }),
  pace: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(0, 5) }, fc.constantFrom(20, 90)),
  calls: fc.constantFrom(0, 0, 0, 1, 1, 2),
  wrongCall: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
  fault: fc.oneof(
    { weight: 4, arbitrary: fc.constant('none' as const) },
    fc.constantFrom('refuse' as const, 'unavailable' as const, 'drop' as const, 'stall' as const),
  ),
  faultAfter: fc.integer({ min: 0, max: 6 }),
})

const chat = {
  stream: fc.boolean(),
  leaveAfter: fc.option(fc.integer({ min: 1, max: 12 })),
  script,
}

const constant = <const T extends string>(name: T) => ({ do: fc.constant(name) })

const doing: fc.Arbitrary<Doing> = fc.oneof(
  { weight: 7, arbitrary: fc.record({ ...constant('send'), ...chat }) },
  { weight: 3, arbitrary: fc.record({ ...constant('continue'), ...chat }) },
  { weight: 3, arbitrary: fc.record({ ...constant('retry'), which: fc.nat(4), ...chat }) },
  { weight: 2, arbitrary: fc.record(constant('stop')) },
  {
    weight: 5,
    arbitrary: fc.record({
      ...constant('tool-result'),
      which: fc.nat(3),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...constant('expire'), sweep: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ ...constant('reload'), back: fc.option(fc.nat(8)) }) },
  { weight: 1, arbitrary: fc.record(constant('pause')) },
  { weight: 2, arbitrary: fc.record(constant('resume')) },
  { weight: 2, arbitrary: fc.record({ ...constant('takeover'), member: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record(constant('handback')) },
  { weight: 1, arbitrary: fc.record(constant('kill')) },
)

const command: fc.Arbitrary<Command> = fc
  .tuple(fc.record({ after: fc.constantFrom(0, 0, 0, 5, 20, 60), on: fc.nat(1) }), doing)
  .map(([when, what]) => ({ ...when, ...what }))

export const plans: fc.Arbitrary<Plan> = fc.array(fc.array(command, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 10,
  size: 'max',
})

export const plainScript: Script = {
  words: 4,
  pace: 0,
  calls: 0,
  wrongCall: false,
  fault: 'none',
  faultAfter: 0,
}
