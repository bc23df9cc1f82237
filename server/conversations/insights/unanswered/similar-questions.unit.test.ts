import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { Models } from '../../../ai/models.ts'
import { addVectors, type QuestionVectors, sameQuestion } from './similar-questions.ts'

const log = pino({ level: 'silent' })
/** Three directions for the subjects, and one that all texts of the space have in common. */
const SUBJECTS = [/ship|deliver/, /gift/, /park/]
const space = (common: number) => ({
  embed: async (texts: string[]) =>
    texts.map((text) => {
      const raw = [common, ...SUBJECTS.map((subject) => (subject.test(text) ? 1 : 0)), text.length / 500]
      return Float32Array.from(raw, (value) => value / Math.hypot(...raw))
    }),
})
const groupsOf = (...questions: string[]) => questions.map((question) => ({ question }))
const vectorsOf = async (embedder: { embed: object } | null, questions: readonly string[]) => {
  const vectors: QuestionVectors = new Map()
  await addVectors(
    { models: { embedder } as unknown as Models, log },
    vectors,
    questions,
    AbortSignal.timeout(5_000),
  )
  return vectors
}

for (const common of [0.1, 2])
  test(`questions are the same when they lie much nearer than unrelated ones do (${common})`, async () => {
    const groups = groupsOf('Do you sell gift cards?', 'Do you ship to Austria?', 'Where can I park?')
    const asked = ['Is delivery to Austria possible?', 'What does the premium plan cost?']
    const vectors = await vectorsOf(space(common), [...asked, ...groups.map(({ question }) => question)])
    assert.equal(sameQuestion(asked[0]!, groups, vectors), groups[1])
    assert.equal(sameQuestion(asked[1]!, groups, vectors), null)
    assert.equal(sameQuestion(asked[0]!, [], vectors), null)
  })

test('without an embedding model, or when it fails, no question is like another', async () => {
  const embed = async () => Promise.reject(new Error('The server is away.'))
  for (const embedder of [null, { ...space(1), embed }]) {
    const vectors = await vectorsOf(embedder, ['Do you ship?', 'Do you deliver?'])
    assert.equal(sameQuestion('Do you ship?', groupsOf('Do you deliver?'), vectors), null)
  }
})
