import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TRAIN_SMALL_SOURCE, TRAIN_SOURCE, trainingTask } from './enqueue-training.ts'

test('sources whose content is small are trained apart from the others', () => {
  const large = 'x'.repeat(200_000)
  const cases: [Parameters<typeof trainingTask>[0], string][] = [
    [{ type: 'text', content: { text: 'A few words.' } }, TRAIN_SMALL_SOURCE],
    [{ type: 'text', content: { text: large } }, TRAIN_SOURCE],
    [{ type: 'qna', content: { questions: ['Why?'], answer: 'Because.' } }, TRAIN_SMALL_SOURCE],
    [{ type: 'file', content: { file: 'x', bytes: 56 } }, TRAIN_SMALL_SOURCE],
    [{ type: 'file', content: { file: 'x', bytes: 5_000_000 } }, TRAIN_SOURCE],
    [{ type: 'file', content: { file: 'x' } }, TRAIN_SOURCE],
    [{ type: 'link', content: {} }, TRAIN_SOURCE],
  ]
  for (const [source, task] of cases) assert.equal(trainingTask(source), task, JSON.stringify(source))
})
