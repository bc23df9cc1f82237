import type { Static } from 'typebox'
import type { Passage } from '../knowledge/retrieval/passage.ts'
import type { CitedSource } from './schema.ts'

/** The sources of the cited passages (indexes), each page once with its best score, in order of citation. */
export function citedSources(passages: Passage[], cited: number[]): Static<typeof CitedSource>[] {
  const found = new Map<string, Static<typeof CitedSource>>()
  for (const index of cited) {
    const passage = passages[index]
    if (!passage) continue
    const { sourceId, sourceName, url, score } = passage
    // A website is one source of many pages.
    const place = `${sourceId} ${url}`
    const known = found.get(place)
    if (known) known.score = Math.max(known.score, score)
    else found.set(place, { id: sourceId, name: sourceName, url, score })
  }
  return [...found.values()]
}

/** The passages that a text refers to as [1], [2, 3] …, as indexes, each once. */
export function citationsIn(text: string, passages: number): number[] {
  const numbers = [...text.matchAll(/\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g)].flatMap(([, list]) =>
    (list ?? '').split(',').map((number) => Number(number) - 1),
  )
  return [...new Set(numbers)].filter((index) => index >= 0 && index < passages)
}
