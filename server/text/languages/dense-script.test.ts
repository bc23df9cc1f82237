import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentOfDense, dictionaryWords } from './dense-script.ts'

const kept = (word: string): string[] =>
  contentOfDense(word)
    .filter(({ crosses }) => !crosses)
    .map(({ pair }) => pair)

test('pairs across the words of a Chinese question are told from pairs within a word', () => {
  assert.deepEqual(kept('数据保留多久'), ['数据', '保留', '多久'])
  assert.ok(contentOfDense('数据保留多久').some(({ pair, crosses }) => pair === '据保' && crosses))
})

test('two Chinese words of one character are taken for a word that the dictionary does not have', () => {
  assert.ok(kept('小票机保修').includes('保修'))
})

test('the words of which any Chinese question consists are not content', () => {
  for (const question of ['我可以怎么办', '請問你們有沒有', '能不能给我一个']) {
    const without = contentOfDense(`${question}发票`).map(({ pair }) => pair)
    assert.ok(without.length <= 3, `${question}: ${without}`)
    assert.ok(without.includes('发票'))
  }
})

test('a Japanese compound with a word of one character is one word', () => {
  assert.ok(kept('カードの定期券').includes('期券'))
  assert.ok(kept('送料はいくらですか').includes('送料'))
})

test('the particle or ending of a Korean word does not count as a part of it', () => {
  assert.deepEqual(kept('배송비는'), ['배송', '송비'])
  assert.deepEqual(kept('환불되나요'), ['환불'])
  assert.deepEqual(kept('포도'), ['포도'])
})

test('words in a dense script are split by a dictionary, and others stay whole', () => {
  assert.deepEqual(dictionaryWords(['发票抬头', 'zp80']), ['发票', '抬头', 'zp80'])
})
