import { factOf } from './fact-of.ts'
import { loadCollections } from './load-collections.ts'

/**
 * `node bench/answers/check-facts.ts` reports how many chunks contain the fact of each question of companies.json. A
 * fact in no chunk cannot be found, and one in many does not identify the right passage. The report says nothing about
 * the ranking, so authors of questions can use it.
 */
for (const { name, chunks, answerable, followUps } of await loadCollections()) {
  console.log(`${name}: ${chunks.length} chunks`)
  for (const { question, fact } of [...answerable, ...followUps]) {
    const holds = factOf(fact)
    const found = chunks.filter(({ text }) => holds(text)).length
    if (found === 0 || found > 3) console.log(`  in ${found} chunks: ${question} (${fact})`)
  }
}
