import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { compactCosine, compactVector } from './compact-vector.ts'
import { informationOf, meanVector, unitLength } from './mean-vector.ts'
import { loadWordVectors, similarityOfRows } from './word-vectors.ts'

const words = loadWordVectors()
const similarity = (a: string, b: string): number => similarityOfRows(words, words.row(a), words.row(b))

test('the shipped table has 60,000 words and finds similar ones', () => {
  assert.equal(words.size, 60_000)
  assert.equal(words.row('qqqqq'), -1)
  assert.ok(similarity('refund', 'reimbursement') > similarity('refund', 'mountain') + 0.2)
  assert.ok(similarity('kids', 'child') > similarity('kids', 'invoice') + 0.2)
  assert.ok(Math.abs(similarity('bitcoin', 'bitcoin') - 1) < 1e-6)
})

test('frequent words have less weight', () => {
  assert.ok(informationOf(words, words.row('the')) < 0.05)
  assert.ok(informationOf(words, words.row('thermostat')) > 0.9)
  assert.equal(informationOf(words, -1), 1)
})

test('a mean has length 1, and unknown words have none', () => {
  const mean = meanVector(words, ['cancel', 'subscription', 'qqqqq'])!
  assert.ok(Math.abs(Math.hypot(...mean) - 1) < 1e-5)
  assert.equal(meanVector(words, ['qqqqq']), null)
  assert.equal(meanVector(words, []), null)
})

test('one byte per number keeps cosines accurate to 0.02', () => {
  const table = fc.array(fc.constantFrom('refund', 'money', 'heat', 'card', 'open', 'late', 'river'), {
    minLength: 1,
  })
  fc.assert(
    fc.property(table, table, (first, second) => {
      const a = meanVector(words, first)!
      const b = meanVector(words, second)!
      const exact = a.reduce((sum, value, i) => sum + value * b[i]!, 0)
      assert.ok(Math.abs(compactCosine(compactVector(a), compactVector(b), 0) - exact) < 0.02)
    }),
  )
})

test('a zero vector cannot be normalised', () => {
  assert.equal(unitLength(new Float32Array(4)), null)
  assert.equal(unitLength(Float32Array.of(1, Number.NaN)), null)
})

test('the shipped neighbours of a word are the words with the greatest cosines, closest first', () => {
  for (const word of ['refund', 'thermostat', 'the', 'whatsapp', 'kids']) {
    const row = words.row(word)
    const similar = Array.from({ length: words.size }, (_, other) => ({
      row: other,
      similarity: similarityOfRows(words, row, other),
    }))
      .filter(({ row: other, similarity }) => other !== row && similarity >= 0.4)
      .sort((a, b) => b.similarity - a.similarity || a.row - b.row)
      .slice(0, 60)
    assert.deepEqual(words.neighbours(row), similar, word)
  }
})

test('a table that does not match its words is rejected', () => {
  const folder = mkdtempSync(join(tmpdir(), 'word-vectors-'))
  try {
    writeFileSync(join(folder, 'word-vectors.bin'), new Int8Array(150))
    writeFileSync(join(folder, 'word-vectors.txt'), 'one\ntwo')
    assert.throws(() => loadWordVectors(folder).size, /150 bytes for 2 words/)
    writeFileSync(join(folder, 'word-vectors.bin'), new Int8Array(200))
    writeFileSync(join(folder, 'word-neighbours.bin'), Uint8Array.of(1, 0, 1))
    assert.throws(() => loadWordVectors(folder).size, /3 bytes instead of 4/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
