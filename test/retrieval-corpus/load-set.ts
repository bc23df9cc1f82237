import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { extractMarkdown } from '../../server/knowledge/extract/text/extract-markdown.ts'
import type { IndexedChunk } from '../../server/knowledge/search/passage.ts'
import { chunkSections } from '../../server/knowledge/training/chunk/chunk-sections.ts'

export type SetQuestion = {
  question: string
  /** The ends of the heading paths of sections, each of which contains the answer. */
  expect?: string[]
  /** A `paraphrase` shares no word with the answer. `near` asks about the subject, and `far` about anything. */
  kind: 'close' | 'paraphrase' | 'near' | 'far'
}

export type DocumentSet = {
  name: SetName
  chunks: IndexedChunk[]
  answerable: SetQuestion[]
  unanswerable: SetQuestion[]
}

export const ENGLISH_SETS = ['camper-manual', 'staff-handbook', 'server-reference'] as const
export const GERMAN_SET = 'mieter-handbuch' as const
type SetName = (typeof ENGLISH_SETS)[number] | typeof GERMAN_SET

/** The even or the odd questions. Figures that only one half reaches are due to chance. */
type Half = 'even' | 'odd'

const FOLDER = join(import.meta.dirname, 'sets')
const UNSEEN = join(import.meta.dirname, 'unseen')
const REFERENCE = `Server Reply Request Routes Hooks Validation-and-Serialization Logging Plugins Decorators
ContentTypeParser Errors Lifecycle HTTP2 Encapsulation Middleware Warnings LTS`.split(/\s+/)

/**
 * Loads a document set, split into chunks as sources are, with its questions. With `unseen`, these are questions that
 * nothing was fitted to. They were written without knowledge of the others or of the ranker, and as hard as their
 * author could make them.
 */
export function loadSet(name: SetName, { unseen = false } = {}): DocumentSet {
  const chunks = name === 'server-reference' ? referenceChunks() : chunksOf(join(FOLDER, `${name}.md`))
  const questions = JSON.parse(readFileSync(join(unseen ? UNSEEN : FOLDER, `${name}.json`), 'utf8'))
  return { name, chunks, ...questions }
}

export function halfOf<T>(questions: readonly T[], half: Half): T[] {
  return questions.filter((_, index) => (index % 2 === 0) === (half === 'even'))
}

/** Whether a chunk belongs to one of the sections that contain the answer. */
export function isExpected(chunk: { headingPath: string[] }, { expect = [] }: SetQuestion): boolean {
  const path = ` > ${chunk.headingPath.join(' > ')}`
  return expect.some((end) => path.endsWith(` > ${end}`))
}

/**
 * Returns the chunks of the reference of the web framework this service is built on, read from its installed package.
 */
function referenceChunks(): IndexedChunk[] {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('fastify'))), 'docs/Reference')
  return REFERENCE.flatMap((name) => chunksOf(join(folder, `${name}.md`)))
}

function chunksOf(path: string): IndexedChunk[] {
  const { title, sections } = extractMarkdown(readFileSync(path, 'utf8'))
  return chunkSections(sections, { language: 'other' }).map((chunk) => ({
    id: `${path}#${chunk.ordinal}`,
    sourceId: path,
    sourceName: title,
    url: null,
    headingPath: chunk.headingPath,
    page: chunk.page,
    text: chunk.text,
  }))
}
