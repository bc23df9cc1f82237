import { factOf } from './fact-of.ts'
import { loadCollections } from './load-collections.ts'

/**
 * `node bench/answers/check-facts.ts` reports, for each question of companies.json, in how many chunks its fact stands. A fact that stands in none cannot be found, and one that stands in many does not tell the right
 * passage. It says nothing about the ranking, so that authors of questions can use it.
 */
for (const { name, chunks, answerable, followUps } of await loadCollections()) {
  console.log(`${name}: ${chunks.length} chunks`)
  for (const { question, fact } of [...answerable, ...followUps]) {
    const holds = factOf(fact)
    const found = chunks.filter(({ text }) => holds(text)).length
    if (found === 0 || found > 3) console.log(`  in ${found} chunks: ${question} (${fact})`)
  }
}
