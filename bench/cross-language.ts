import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAgent } from '../server/agents/records/create-agent.ts'
import { readConfig } from '../server/config.ts'
import { createContext } from '../server/context.ts'
import { jobKinds } from '../server/features.ts'
import { createSource } from '../server/knowledge/sources/create-source.ts'
import { splitWords } from '../server/platform/text/words/words.ts'
import { readCollections } from './answers/load-collections.ts'
import { allTrained, knowledgeOf } from './retrieval.ts'
import { prepare } from './service.ts'

type Asked = { question: string; paragraph: string; fact: string }

const LANGUAGES = ['ar', 'de', 'el', 'es', 'hi', 'ro', 'ru', 'th', 'tr', 'vi', 'zh']
const SHOWN = 3

/**
 * Measures questions in other languages than the documents: `node bench/cross-language.ts FOLDER --embeddings URL
 * [--model NAME] [--every N]`. FOLDER has the files of XQuAD (github.com/google-deepmind/xquad), professional
 * translations of the same questions: an agent reads the English paragraphs and is asked one question about each (or
 * each Nth) in every other language. The questions of `bench/answers` about something else must be declined.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      embeddings: { type: 'string' },
      model: { type: 'string', default: 'multilingual-e5-small' },
      every: { type: 'string', default: '1' },
    },
    allowPositionals: true,
  })
  const [folder] = positionals
  if (!folder || !values.embeddings) throw new Error('Give a folder with XQuAD, and --embeddings.')
  const prepared = await prepare(null, 0)
  const env = { OPENAI_BASE_URL: values.embeddings, OPENAI_API_KEY: 'none', EMBEDDING_MODEL: values.model }
  const ctx = await createContext(readConfig({ ...prepared.env, ...env }))
  await ctx.jobs.work(jobKinds(ctx))
  const account = { id: prepared.accountId, plan: 'unlimited' as const }
  const agentId = await createAgent(ctx.db, account, 'bench', { name: 'Cross-language' })
  for (const { title, paragraphs } of readXquad(folder, 'en').data) {
    const content = paragraphs.map(({ context }, i) => `## ${title} ${i + 1}\n\n${context}`).join('\n\n')
    await createSource(ctx, account, agentId, { type: 'text', name: title, content })
  }
  await allTrained(ctx, agentId)
  const agent = {
    id: agentId,
    accountId: prepared.accountId,
    knowledgeVersion: (await knowledgeOf(ctx, agentId)).knowledge_version,
  }

  const every = Number(values.every)
  const shows = async ({ question, fact }: Asked): Promise<boolean> => {
    const { isFound, passages } = await ctx.knowledge.search(agent, [question], { limit: SHOWN })
    return isFound && passages.some(({ text }) => text.includes(fact))
  }
  const results: object[] = []
  for (const language of LANGUAGES) {
    const asked = questionsIn(folder, language).filter((_, i) => i % every === 0)
    await ctx.models.embedder?.embed(
      asked.map(({ question }) => question),
      { areQuestions: true },
    )
    const shown: boolean[] = []
    for (const one of asked) shown.push(await shows(one))
    const apart = asked.map(({ question, paragraph }) => {
      const words = new Set(splitWords(paragraph))
      return !splitWords(question).some((word) => words.has(word))
    })
    results.push({
      language,
      ...share('', shown),
      ...share(
        'WithoutSharedWord',
        shown.filter((_, i) => apart[i]),
      ),
    })
    console.log(JSON.stringify(results.at(-1)))
  }
  const far = readCollections().flatMap((collection) => collection.far)
  await ctx.models.embedder?.embed(far, { areQuestions: true })
  const declined: boolean[] = []
  for (const question of far)
    declined.push(!(await ctx.knowledge.search(agent, [question], { limit: SHOWN })).isFound)
  results.push({ farQuestions: far.length, farDeclined: part(declined) })
  console.log(JSON.stringify(results.at(-1)))
  const report = { date: new Date().toISOString(), embeddings: values.model, every, results }
  writeFileSync(
    new URL('./results/cross-language.json', import.meta.url),
    `${JSON.stringify(report, null, 2)}\n`,
  )
  await ctx.close()
  await prepared.remove()
}

type Xquad = {
  data: {
    title: string
    paragraphs: { context: string; qas: { question: string; answers: { text: string }[] }[] }[]
  }[]
}

const readXquad = (folder: string, language: string): Xquad =>
  JSON.parse(readFileSync(join(folder, `xquad.${language}.json`), 'utf8'))

/** The first question about each paragraph, with the English paragraph and answer. */
function questionsIn(folder: string, language: string): Asked[] {
  const [english, other] = ['en', language].map((name) =>
    readXquad(folder, name).data.flatMap(({ paragraphs }) => paragraphs),
  )
  return english!.map(({ context, qas }, i) => ({
    question: other![i]!.qas[0]!.question,
    paragraph: context,
    fact: qas[0]!.answers[0]!.text,
  }))
}

const part = (flags: readonly boolean[]): number | null =>
  flags.length === 0 ? null : Math.round((flags.filter(Boolean).length / flags.length) * 1_000) / 1_000

const share = (name: string, shown: readonly boolean[]) => ({
  [`questions${name}`]: shown.length,
  [`factShown${name}`]: part(shown),
})

await main()
