import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Evidence, reachOf } from './relevance.ts'

/** Evidence from French documents about an operating system, where no word vectors take part. */
const COMMON: Evidence = {
  ...{
    terms: 0.11,
    meanings: 0,
    sentence: null,
    match: 0.43,
    rarest: 0,
    missing: 0,
    heading: 0,
    headingShare: 0,
    kin: 0,
  },
  ...{
    around: 0,
    standsOut: 0,
    strangeness: 0.33,
    unknownName: 0,
    words: 3,
    held: 0.3,
    first: 0.25,
    placed: 0.79,
    pieces: 0,
  },
  ...{ near: 0.75, spelled: 1, size: -0.38, few: 0 },
}

test('documents do not cover a question if they only contain its common words', () => {
  // "À quelle heure ferme la piscine ?" finds "heure" and "fermer", and no pool.
  assert.ok(reachOf(COMMON, 0) < 0.45)
  // "Combien de programmes sont livrés avec le système ?" finds what it is about.
  const met: Evidence = { ...COMMON, match: 0.73, rarest: 1, held: 0.73, strangeness: 0 }
  assert.ok(reachOf(met, null) > 0.8)
})
