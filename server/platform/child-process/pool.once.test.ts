import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from './pool.ts'

const work = 'export async function* work(ms) { await new Promise((done) => setTimeout(done, ms)); yield ms }'
const module = `data:text/javascript,${encodeURIComponent(work)}`

test('a small order does not wait for large ones, whoever they belong to', async () => {
  const limits = { timeoutMs: 600_000, memoryMb: 256, answerMb: 1, idleMs: 1_000 }
  const pool = createPool({ places: 2, placesForSmall: 1, ...limits })
  const large = ['a', 'a', 'b', 'c'].map((owner) =>
    pool.run(owner, { module, input: 500_000 }, { onPiece() {} }),
  )
  const ends = Promise.allSettled(large)
  const pieces: unknown[] = []
  const watcher = { onPiece: (piece: unknown) => pieces.push(piece) }
  for (const owner of ['a', 'b', 'd']) await pool.run(owner, { module, input: 1 }, watcher, { isSmall: true })
  assert.deepEqual(pieces, [1, 1, 1])
  assert.equal(pool.processes().length, 3)
  await pool.close()
  assert.deepEqual(
    (await ends).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'rejected'],
  )
})
