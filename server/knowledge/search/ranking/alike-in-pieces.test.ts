import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadWordVectors } from '../../../models/static/word-vectors.ts'
import { createStemmer } from '../../../text/languages/stem.ts'
import { analyseQuestion } from '../question/analyse-question.ts'
import { showChunks } from '../tables/drop-chunks.ts'
import { createTables } from '../tables/tables.ts'
import { writeChunk } from '../tables/write-chunks.ts'
import { gatherEvidence } from './gather-evidence.ts'

const words = loadWordVectors()

/** Returns the evidence by pieces for each text that was found. */
function piecesOf(question: string, texts: readonly string[]): (number | undefined)[] {
  const tables = createTables(words)
  const stem = createStemmer()
  const written = texts.map((text, i) =>
    writeChunk(
      tables,
      { id: String(i), sourceId: 's', sourceName: null, url: null, headingPath: [], page: null, text },
      stem,
    ),
  )
  showChunks(tables, written)
  const { candidates } = gatherEvidence(tables, analyseQuestion(question, tables, null), null)
  return written.map((slot) => candidates.find((candidate) => candidate.slot === slot)?.evidence.pieces)
}

test('the parts of a compound and derived words count where the whole word is missing', () => {
  const [asked, derived] = piecesOf('Wie wird die Rechnungsanschrift geändert?', [
    'Wie wird die Ware geliefert? Die Rechnung liegt bei, die Ware wird am Morgen gebracht.',
    'Änderungen der Anschriften für Rechnungen nimmt der Kundendienst an.',
  ])
  assert.equal(derived, 1)
  assert.ok(asked! < 0.7, `${asked}`)
})

test('accents that are left out make no difference', () => {
  const texts = [
    'A rescisão do contrato é feita na página da conta.',
    'O estacionamento fica ao lado da estação e fecha à noite.',
  ]
  assert.deepEqual(
    piecesOf('rescisão do contrato na página', texts),
    piecesOf('rescisao do contrato na pagina', texts),
  )
})

test('where the word vectors cover the language, pieces do not count', () => {
  const [found] = piecesOf('How do I cancel the subscription?', ['Cancelling of subscriptions is done here.'])
  assert.equal(found, 0)
})
