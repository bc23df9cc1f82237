import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IndexedChunk } from '../../server/knowledge/search/passage.ts'

type CorpusQuestion = {
  question: string
  expect?: string
  kind: 'close' | 'paraphrase' | 'near' | 'far'
}
export type Corpus = { chunks: IndexedChunk[]; answerable: CorpusQuestion[]; unanswerable: CorpusQuestion[] }

const FOLDER = import.meta.dirname
const GERMAN = ['fahrrad-abo.md']

/**
 * Loads the evaluation set of a language, with one chunk for each section. A question expects the section of a
 * heading.
 */
export function loadCorpus(language: 'en' | 'de', file = 'questions.json'): Corpus {
  const questions = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))[language]
  const documents = readdirSync(FOLDER).filter((name) => name.endsWith('.md'))
  const chosen = documents.filter((name) => GERMAN.includes(name) === (language === 'de')).sort()
  return { chunks: chosen.flatMap(sectionsOf), ...questions }
}

function sectionsOf(name: string): IndexedChunk[] {
  const [title, ...sections] = readFileSync(join(FOLDER, name), 'utf8').split(/^## /m)
  return sections.map((section) => {
    const [heading, ...text] = section.trim().split('\n')
    return {
      id: `${name}#${heading}`,
      sourceId: name,
      sourceName: title!.replace(/^# /, '').trim(),
      url: `https://help.example/${name.replace('.md', '')}`,
      headingPath: [heading!],
      page: null,
      text: text.join('\n').trim(),
    }
  })
}
