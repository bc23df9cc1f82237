import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chunkSections } from '../../server/knowledge/documents/chunk/chunk-sections.ts'
import { extractDocument } from '../../server/knowledge/documents/extract-document.ts'
import type { DocumentType } from '../../server/knowledge/documents/extracted-document.ts'

type AskedQuestion = { question: string; wording: 'close' | 'typed' | 'paraphrase'; fact: string }
type FollowUp = { before: string; question: string; fact: string }
type Collection = {
  name: string
  language: string
  kind: string
  licence: string
  /** The folder of the documents, beside this file. */
  folder: string
  /** Paths inside the folder; one with an asterisk stands for all files that it matches. */
  files: string[]
  answerable: AskedQuestion[]
  near: string[]
  far: string[]
  followUps: FollowUp[]
}
type CollectionChunk = { sourceId: string; sourceName: string; headingPath: string[]; text: string }
/** A document as an owner uploads it; `name` is its title. */
type CollectionDocument = { path: string; name: string; type: DocumentType; bytes: Buffer }
export type LoadedCollection = Collection & { documents: CollectionDocument[]; chunks: CollectionChunk[] }

/**
 * Returns the questions about invented companies without their documents: one company a language. Their authors had not
 * seen the code.
 */
export const readCollections = (): Collection[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'companies.json'), 'utf8'))

/** Loads these collections, or only those in some languages. Documents are chunked like sources. */
export async function loadCollections(languages?: readonly string[]): Promise<LoadedCollection[]> {
  const loaded: LoadedCollection[] = []
  for (const collection of readCollections().filter(
    ({ language }) => languages?.includes(language) ?? true,
  )) {
    const documents: CollectionDocument[] = []
    const chunks: CollectionChunk[] = []
    for (const path of pathsOf(collection)) {
      const bytes = readFileSync(join(import.meta.dirname, collection.folder, path))
      const type = /\.(\w+)$/.exec(path)?.[1] as DocumentType
      const { title, sections } = await extractDocument({ bytes, type, url: `https://docs.example/${path}` })
      const name = title ?? path.split('/').at(-1)!
      documents.push({ path, name, type, bytes })
      for (const { headingPath, text } of chunkSections(sections))
        chunks.push({ sourceId: path, sourceName: name, headingPath, text })
    }
    loaded.push({ ...collection, documents, chunks })
  }
  return loaded
}

const pathsOf = ({ folder, files }: Collection): string[] =>
  files.flatMap((file) =>
    file.includes('*') ? globSync(file, { cwd: join(import.meta.dirname, folder) }).toSorted() : [file],
  )
