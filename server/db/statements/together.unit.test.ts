import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseAway } from '../connections/unavailable.ts'
import { together } from './together.ts'

/** Returns a function made by `together` and the groups that it has started, which the test ends or fails. */
function recorded(atOnce: number, everyMs = 0) {
  const groups: { key: string; calls: number[]; end: () => void; fail: (error: Error) => void }[] = []
  const call = together<number, string>(
    (key, calls) =>
      new Promise((resolve, reject) => {
        groups.push({ key, calls, end: () => resolve(calls.map((n) => `${key}${n}`)), fail: reject })
      }),
    { atOnce, everyMs },
  )
  return { groups, call }
}

const begun = async (groups: unknown[], count: number): Promise<void> => {
  while (groups.length < count) await new Promise((resolve) => setImmediate(resolve))
}

test('calls that arrive while one runs form groups of the allowed size, and each gets its own result', async () => {
  const { groups, call } = recorded(2)
  const results = Promise.all([1, 2, 3, 4].map((n) => call('a', n)))
  const other = call('b', 5)
  for (let i = 0; i < 4; i++) {
    await begun(groups, i + 1)
    groups[i]?.end()
  }
  assert.deepEqual(await results, ['a1', 'a2', 'a3', 'a4'])
  assert.equal(await other, 'b5')
  assert.deepEqual(groups.map(({ key, calls }) => [key, ...calls]).sort(), [
    ['a', 1],
    ['a', 2, 3],
    ['a', 4],
    ['b', 5],
  ])
})

test('when a group fails, each of its calls is run alone, so that only the one at fault fails', async () => {
  const run: number[][] = []
  const call = together<number, number>(
    async (_key, calls) => {
      run.push(calls)
      await new Promise((resolve) => setImmediate(resolve))
      if (calls.includes(3)) throw new Error('three')
      return calls
    },
    { atOnce: 8 },
  )
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((n) => call('a', n)))
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    [1, 2, 'three', 4],
  )
  assert.deepEqual(run, [[1], [2, 3, 4], [2], [3], [4]])
})

test('a group that fails because the database is away is not run again', async () => {
  const { groups, call } = recorded(8)
  const results = [1, 2, 3].map((n) => call('a', n))
  await begun(groups, 1)
  groups[0]?.end()
  await begun(groups, 2)
  groups[1]?.fail(new DatabaseAway('unreachable'))
  const outcomes = await Promise.allSettled(results)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  )
  assert.equal(groups.length, 2)
})

test('a full group does not wait for the interval, and the line goes on after it', async () => {
  const { groups, call } = recorded(2, 3_600_000)
  const results = [1, 2, 3].map((n) => call('a', n))
  for (let i = 0; i < 2; i++) {
    await begun(groups, i + 1)
    groups[i]?.end()
  }
  assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'a3'])
})

test('a group that hangs holds back no others', async () => {
  const { groups, call } = recorded(8)
  void call('a', 1)
  const second = call('a', 2)
  await begun(groups, 2)
  groups[1]?.end()
  assert.equal(await second, 'a2')
})
