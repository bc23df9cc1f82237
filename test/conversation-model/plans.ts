import fc from 'fast-check'
import type { Command, Plan, Script } from './commands.ts'

const script: fc.Arbitrary<Script> = fc.record({
  words: fc.integer({ min: 0, max: 12 }),
  pace: fc.constantFrom(0, 0, 5, 25),
  calls: fc.constantFrom(0, 0, 1, 1, 2),
  wrongCall: fc.constantFrom(false, false, false, false, false, true),
  fault: fc.oneof(
    { weight: 7, arbitrary: fc.constant('none' as const) },
    { weight: 4, arbitrary: fc.constantFrom(...(['refuse', 'unavailable', 'drop', 'unfinished'] as const)) },
    { weight: 1, arbitrary: fc.constant('stall' as const) },
  ),
  faultAfter: fc.nat(6),
})

const chat = {
  stream: fc.constantFrom(false, true, true),
  leaveAfter: fc.option(fc.integer({ min: 1, max: 12 })),
  script,
}

const when = { after: fc.constantFrom(0, 0, 0, 5, 20, 60), on: fc.nat(1) }
const named = <const T extends Command['do']>(name: T) => ({ ...when, do: fc.constant(name) })

const send = fc.record({ ...named('send'), ...chat })
const goOn = fc.record({ ...named('continue'), ...chat })
const retry = fc.record({ ...named('retry'), which: fc.constantFrom(0, 0, 0, 1, 1, 2, 9), ...chat })
const stop = fc.record(named('stop'))
const toolResult = fc.record({
  ...named('tool-result'),
  which: fc.constantFrom<number | 'all'>('all', 'all', 0, 0, 1, 9),
  times: fc.integer({ min: 1, max: 3 }),
})
const expire = fc.record({ ...named('expire'), sweep: fc.boolean() })
const reload = fc.record({ ...named('reload'), back: fc.option(fc.nat(8), { freq: 2 }) })
const pause = fc.record(named('pause'))
const resume = fc.record(named('resume'))
const takeover = fc.record({ ...named('takeover'), member: fc.nat(1), back: fc.boolean() })
const handback = fc.record(named('handback'))
const kill = fc.record(named('kill'))
const freeze = fc.record({ ...named('freeze'), ms: fc.constantFrom(30, 100, 300) })

const command: fc.Arbitrary<Command> = fc.oneof<fc.WeightedArbitrary<Command>[]>(
  { weight: 6, arbitrary: send },
  { weight: 4, arbitrary: goOn },
  { weight: 4, arbitrary: retry },
  { weight: 3, arbitrary: stop },
  { weight: 4, arbitrary: toolResult },
  { weight: 2, arbitrary: expire },
  { weight: 5, arbitrary: reload },
  { weight: 1, arbitrary: pause },
  { weight: 2, arbitrary: resume },
  { weight: 2, arbitrary: takeover },
  { weight: 3, arbitrary: handback },
  { weight: 1, arbitrary: kill },
  { weight: 2, arbitrary: freeze },
)

const batch = fc.array(command, { minLength: 1, maxLength: 3, size: 'max' })

const callingScript = script.map(
  (one): Script => ({ ...one, calls: 1 + (one.words % 2), fault: 'none', wrongCall: false }),
)
const slowScript = script.map((one): Script => ({ ...one, words: 6 + one.words, pace: 20 + 5 * one.words }))

/**
 * Plans in which the model calls actions, all calls get their results, and the answer continues, among other
 * commands.
 */
const actions: fc.Arbitrary<Plan> = fc
  .tuple(
    fc.record({ ...named('send'), ...chat, leaveAfter: fc.constant(null), script: callingScript }),
    fc.array(fc.oneof(goOn, command), { maxLength: 2, size: 'max' }),
    fc.record({
      ...named('tool-result'),
      which: fc.constant<'all'>('all'),
      times: fc.integer({ min: 1, max: 3 }),
    }),
    fc.array(command, { maxLength: 1, size: 'max' }),
    goOn,
    fc.array(command, { maxLength: 2, size: 'max' }),
  )
  .map(([asking, first, answering, second, going, third]) => [
    [asking],
    ...first.map((one) => [one]),
    [answering, ...second],
    [going, ...third],
  ])

/** Plans in which the reader of a slow answer disconnects while other commands run. */
const slowAnswer: fc.Arbitrary<Plan> = fc
  .tuple(
    fc.oneof(
      fc.record({
        ...named('send'),
        ...chat,
        stream: fc.constant(true),
        leaveAfter: fc.integer({ min: 1, max: 8 }),
        script: slowScript,
      }),
      fc.record({
        ...named('retry'),
        ...chat,
        which: fc.nat(1),
        stream: fc.constant(true),
        leaveAfter: fc.integer({ min: 1, max: 8 }),
        script: slowScript,
      }),
    ),
    fc.array(batch, { minLength: 1, maxLength: 3, size: 'max' }),
  )
  .map(([asking, meanwhile]) => [[asking], ...meanwhile])

/** fast-check's bias towards short and small values is disabled, because bugs need conversations with a history. */
export const plans: fc.Arbitrary<Plan> = fc.noBias(
  fc
    .array(
      fc.oneof(
        { weight: 3, arbitrary: batch.map((one): Plan => [one]) },
        { weight: 2, arbitrary: actions },
        { weight: 2, arbitrary: slowAnswer },
      ),
      { minLength: 1, maxLength: 7, size: 'max' },
    )
    .map((phrases) => phrases.flat()),
)
