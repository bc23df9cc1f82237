import { foldText } from '../../../platform/text/words/words.ts'
import type { CaseOfRun, Check, Result } from './schema.ts'

type Answered = Pick<Result, 'messages' | 'calls' | 'sources' | 'outcome'> & { isHandedOver: boolean }

const plain = (text: string): string => foldText(text).replace(/\s+/g, ' ').trim()

/** Checks in code what can be checked in code. */
export function checkAnswer(
  { expect }: CaseOfRun,
  { messages, calls, sources, outcome, isHandedOver }: Answered,
): Check[] {
  const answer = plain(messages.at(-1)?.text ?? '')
  const check = (kind: Check['kind'], expected: Check['expected'], passed: boolean): Check => ({
    kind,
    expected,
    passed,
    reason: null,
  })
  const cited = new Set(sources.map(({ id }) => id))
  const called = new Set(calls.map(({ name }) => name))
  // Where a model does not report an outcome, an answer that rests on nothing counts as one that declines.
  const isDeclined = outcome === null ? cited.size === 0 && called.size === 0 : outcome === 'not_found'
  return [
    ...(expect.holds ?? []).map((text) => check('holds', text, answer.includes(plain(text)))),
    ...(expect.lacks ?? []).map((text) => check('lacks', text, !answer.includes(plain(text)))),
    ...(expect.cites ?? []).map((id) => check('cites', id, cited.has(id))),
    ...(expect.calls ?? []).map((name) => check('calls', name, called.has(name))),
    ...(expect.declines === undefined
      ? []
      : [check('declines', expect.declines, isDeclined === expect.declines)]),
    ...(expect.handsOver === undefined
      ? []
      : [check('handsOver', expect.handsOver, isHandedOver === expect.handsOver)]),
  ]
}
