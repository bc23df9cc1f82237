import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Passage } from '../passage.ts'
import { weighReranking } from './weigh-reranking.ts'

const passage = (chunkId: string, score: number): Passage => ({
  ...{ chunkId, sourceId: 's', sourceName: null, url: null, headingPath: [], page: null, text: chunkId },
  score,
})
const CHANCES = [0.7, 0.2, 0.1, 0.05, 0.04, 0.03, 0.02, 0.02, 0.02, 0.02]
const found = CHANCES.map((score, place) => passage(String(place), score))
/** The scores of a model that is sure of the passage at `place`: in log odds, as probabilities and as marks. */
const scales = (place: number): [string, number[]][] => {
  const odds = found.map((_, at) => (at === place ? 5 : -7 + (at % 3)))
  return [
    ['log odds', odds],
    ['probabilities', odds.map((one) => 1 / (1 + Math.exp(-one)))],
    ['marks', odds.map((one) => 500 + 40 * one)],
  ]
}
const ids = (passages: Passage[]): string => passages.map(({ chunkId }) => chunkId).join('')
const assertOrdered = (passages: Passage[]): void => {
  for (const [at, { score }] of passages.entries()) {
    assert.ok(score >= 0 && score <= (passages[at - 1]?.score ?? 1), `${at}: ${score}`)
  }
}

test('a model that agrees with the search makes its first passage likelier, whatever the scale of its scores', () => {
  for (const [scale, scores] of scales(0)) {
    const weighed = weighReranking(found, scores)
    assertOrdered(weighed)
    assert.equal(weighed[0]!.chunkId, '0', scale)
    assert.ok(weighed[0]!.score > 0.95, `${scale} ${weighed[0]!.score}`)
    assert.ok(weighed[1]!.score < found[1]!.score, scale)
  }
})

test('a model that disagrees moves its passage up with its own probability, and the others are less likely', () => {
  for (const [scale, scores] of scales(2)) {
    const weighed = weighReranking(found, scores)
    assertOrdered(weighed)
    const [first, second] = weighed
    assert.deepEqual([first!.chunkId, second!.chunkId], ['2', '0'], scale)
    assert.ok(first!.score > 0.1 && first!.score <= 0.7, `${scale} ${first!.score}`)
    assert.ok(second!.score < 0.2, `${scale} ${second!.score}`)
  }
  // A passage whose words do not match stays improbable, however high its score from the model is.
  const [first] = weighReranking([passage('a', 0.9), passage('b', 0.0001)], [-5, 9])
  assert.ok(first!.score < 0.2, String(first!.score))
})

test('equal scores change nothing', () => {
  for (const score of [0, 0.5, 1, -3, 700])
    assert.deepEqual(
      weighReranking(
        found,
        found.map(() => score),
      ),
      found,
    )
})

test('scores without any information neither prove anything nor replace the order of the search', () => {
  let state = 7
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const runs = Array.from({ length: 200 }, () => weighReranking(found, found.map(random)))
  for (const weighed of runs) assertOrdered(weighed)
  assert.ok(runs.filter(([first]) => first!.chunkId === '0').length > 120)
  assert.ok(runs.filter(([first]) => first!.chunkId !== '0' && first!.score >= 0.7).length < 4)
})

test('passages with one score in common keep their ranks unless the model knows better', () => {
  const followUp = found.map(({ chunkId }) => passage(chunkId, 0.5))
  assert.equal(
    ids(
      weighReranking(
        followUp,
        found.map(() => 0.3),
      ),
    ),
    '0123456789',
  )
  assert.equal(weighReranking(followUp, scales(3)[0]![1])[0]!.chunkId, '3')
  assert.equal(ids(weighReranking([passage('a', 0.2), passage('b', 0.1)], [0.2, 0.3])), 'ab')
})
