import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Corpus, loadCorpus } from '../../../test/retrieval-corpus/load-corpus.ts'
import { composeAnswer } from '../../models/builtin/compose-answer.ts'
import { loadWordVectors } from '../../models/static/word-vectors.ts'
import { createStemmer } from '../../text/stem.ts'
import { analyseQuestion } from './analyse-question.ts'
import { showChunks } from './drop-chunks.ts'
import { rankByTerms } from './rank-terms.ts'
import { searchTables } from './search-tables.ts'
import { createTables, type Tables } from './tables.ts'
import { writeChunk } from './write-chunks.ts'

const words = loadWordVectors()

type Figures = { recall: number; termsRecall: number; offered: number; cited: number; declined: number }

/** All documents of a language in one index: harder than the documents of one company. */
function measure({ chunks, answerable, unanswerable }: Corpus): Figures {
  const tables = createTables(words)
  const stem = createStemmer()
  showChunks(
    tables,
    chunks.map((chunk) => writeChunk(tables, chunk, stem)),
  )
  const sum = { recall: 0, termsRecall: 0, offered: 0, cited: 0, declined: 0 }
  for (const { question, expect } of answerable) {
    const result = searchTables(tables, question, { limit: 6 })
    const answer = composeAnswer({ question, ...result }, words)
    const found = result.passages.map((passage) => passage.headingPath[0])
    sum.recall += found.slice(0, 3).includes(expect) ? 1 : 0
    sum.termsRecall += headingsByTerms(tables, question).includes(expect) ? 1 : 0
    sum.offered += answer.band === 'answer' || answer.band === 'closest' ? 1 : 0
    sum.cited += answer.cited.some((passage) => found[passage] === expect) ? 1 : 0
  }
  for (const { question } of unanswerable) {
    const answer = composeAnswer({ question, ...searchTables(tables, question, { limit: 6 }) }, words)
    sum.declined += answer.band === 'decline' ? 1 : 0
  }
  const share = (count: number): number => count / answerable.length
  return {
    recall: share(sum.recall),
    termsRecall: share(sum.termsRecall),
    offered: share(sum.offered),
    cited: share(sum.cited),
    declined: sum.declined / unanswerable.length,
  }
}

function headingsByTerms(tables: Tables, question: string): (string | undefined)[] {
  const { slots } = rankByTerms(tables, analyseQuestion(question, tables, null), 3)
  return slots.map((slot) => tables.slots.chunks[slot]!.headingPath[0])
}

function assertAtLeast(figures: Figures, floors: Partial<Figures>): void {
  for (const [name, floor] of Object.entries(floors)) {
    const figure = figures[name as keyof Figures]
    assert.ok(figure >= floor, `${name} is ${figure.toFixed(3)}, at least ${floor} is expected`)
  }
}

test('English: the fusion finds more than words alone, and the bands hold', () => {
  const figures = measure(loadCorpus('en'))
  assert.ok(figures.recall > figures.termsRecall)
  assertAtLeast(figures, { recall: 0.78, offered: 0.88, cited: 0.7, declined: 0.8 })
})

test('German: compounds are found without vectors, and the bands hold', () => {
  const figures = measure(loadCorpus('de'))
  assert.ok(figures.recall > figures.termsRecall)
  assertAtLeast(figures, { recall: 0.9, offered: 0.9, cited: 0.83, declined: 0.9 })
})

test('questions that nothing was tuned on', () => {
  assertAtLeast(measure(loadCorpus('en', 'held-out.json')), {
    recall: 0.88,
    offered: 0.88,
    cited: 0.8,
    declined: 0.7,
  })
  assertAtLeast(measure(loadCorpus('de', 'held-out.json')), {
    recall: 1,
    offered: 1,
    cited: 0.8,
    declined: 1,
  })
})
