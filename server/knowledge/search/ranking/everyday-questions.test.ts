import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadWordVectors } from '../../../models/static/word-vectors.ts'
import { createStemmer } from '../../../text/languages/stem.ts'
import { searchTables } from '../search-tables.ts'
import { showChunks } from '../tables/drop-chunks.ts'
import { createTables } from '../tables/tables.ts'
import { writeChunk } from '../tables/write-chunks.ts'

const words = loadWordVectors()

/** Returns the heading of the first passage that is found in the sections, and its score. */
function firstOf(
  question: string,
  sections: Record<string, string>,
): { heading: string | undefined; score: number } {
  const tables = createTables(words)
  const stem = createStemmer()
  const written = Object.entries(sections).map(([heading, text]) =>
    writeChunk(
      tables,
      { id: heading, sourceId: 's', sourceName: null, url: null, headingPath: [heading], page: null, text },
      stem,
    ),
  )
  showChunks(tables, written)
  const { passages, confidence } = searchTables(tables, question, { limit: 3 })
  return { heading: passages[0]?.headingPath[0], score: confidence }
}

const GERMAN = {
  Öffnungszeiten: 'Montag bis Freitag von 9 bis 18 Uhr, am Samstag von 10 bis 14 Uhr.',
  Versand: 'Wir versenden mit der Post. Der Versand ist ab 50 Euro kostenlos.',
  Kündigung: 'Die Kündigung ist mit einer Frist von vier Wochen zum Monatsende möglich.',
  Anfahrt: 'Mit der Straßenbahn 4 bis zur Haltestelle Rathaus, von dort sind es drei Minuten.',
}
const FRENCH = {
  Horaires: 'Le magasin est ouvert du lundi au vendredi de 9 h à 18 h.',
  Remboursement: 'Le remboursement a lieu sous quatorze jours par le même moyen de paiement.',
  Livraison: 'Les colis partent le jour même et sont livrés en deux jours.',
}
const JAPANESE = {
  営業時間: '月曜から金曜は九時から十八時まで営業しています。',
  返品: '商品到着から八日以内の返品を受け付けます。',
  送料: '全国一律で六百円です。',
}

test('everyday words find the sections that documents name with others', () => {
  const asked: [string, Record<string, string>, string][] = [
    ['Wann habt ihr auf?', GERMAN, 'Öffnungszeiten'],
    ['Wie komme ich zu euch?', GERMAN, 'Anfahrt'],
    ['Kann ich jederzeit raus aus dem Vertrag?', GERMAN, 'Kündigung'],
    ['Vous ouvrez quand ?', FRENCH, 'Horaires'],
    ['Je voudrais récupérer mon argent', FRENCH, 'Remboursement'],
    ['何時までやっていますか', JAPANESE, '営業時間'],
  ]
  for (const [question, sections, heading] of asked)
    assert.equal(firstOf(question, sections).heading, heading, question)
})

test('a question of stop words alone is answered if the documents have its subject', () => {
  assert.ok(firstOf('Wann habt ihr auf?', GERMAN).score >= 0.7)
  assert.ok(firstOf('Wo seid ihr?', { Versand: GERMAN.Versand }).score < 0.15)
})

test('an everyday word alone does not make a question about something else a sure answer', () => {
  for (const question of ['Was kostet ein Flug nach Rom?', 'Wann macht das Schwimmbad in Bonn auf?'])
    assert.ok(firstOf(question, GERMAN).score < 0.7, question)
})
