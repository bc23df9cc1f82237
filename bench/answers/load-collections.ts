import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { extractDocument } from '../../server/knowledge/extract/extract-document.ts'
import { ExtractFailure } from '../../server/knowledge/extract/extract-failure.ts'
import type { DocumentType } from '../../server/knowledge/extract/extracted-document.ts'
import type { IndexedChunk } from '../../server/knowledge/search/passage.ts'
import { chunkSections } from '../../server/knowledge/training/chunk/chunk-sections.ts'

type AskedQuestion = { question: string; wording: 'close' | 'typed' | 'paraphrase'; fact: string }
type FollowUp = { before: string; question: string; fact: string }
type Collection = {
  name: string
  language: string
  kind: string
  licence: string
  /** The place of the documents: a folder beside this file, a Debian package, or an npm package with its version. */
  folder?: string
  debian?: string
  npm?: string
  /** The integrity of that version's archive in the registry: sha512 in base64, with its algorithm as a prefix. */
  integrity?: string
  /** Paths inside the package; one with an asterisk stands for all files that it matches. */
  files: string[]
  answerable: AskedQuestion[]
  near: string[]
  far: string[]
  followUps: FollowUp[]
}
export type LoadedCollection = Collection & { chunks: IndexedChunk[] }

const CACHE = join(import.meta.dirname, '../../.bench-documents')

/**
 * Loads the collections of a file in this folder, or only those in one language. Their documents are fetched from
 * packages and chunked like sources.
 */
export async function loadCollections(file: string, language?: string): Promise<LoadedCollection[]> {
  const collections = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Collection[]
  const loaded: LoadedCollection[] = []
  for (const collection of collections.filter((one) => !language || one.language === language)) {
    const folder = folderOf(collection)
    const chunks: IndexedChunk[] = []
    for (const path of pathsOf(folder, collection.files)) chunks.push(...(await chunksOf(folder, path)))
    loaded.push({ ...collection, chunks })
  }
  return loaded
}

function folderOf({ folder, debian, npm, integrity }: Collection): string {
  if (folder) return join(import.meta.dirname, folder)
  return debian ? debianFolder(debian) : npmFolder(npm ?? '', integrity)
}

const pathsOf = (folder: string, files: readonly string[]): string[] =>
  files.flatMap((file) => (file.includes('*') ? globSync(file, { cwd: folder }).toSorted() : [file]))

async function chunksOf(folder: string, path: string): Promise<IndexedChunk[]> {
  const packed = readFileSync(join(folder, path))
  const bytes = path.endsWith('.gz') ? gunzipSync(packed) : packed
  const type = /\.(\w+)(?:\.gz)?$/.exec(path)?.[1] as DocumentType
  const { title, sections } = await extractDocument({
    bytes,
    type,
    url: `https://docs.example/${path}`,
  }).catch((error: unknown) => {
    // Some of the many files contain no text.
    if (error instanceof ExtractFailure && error.code === 'no_text') return { title: null, sections: [] }
    throw error
  })
  return chunkSections(sections).map((chunk) => ({
    id: `${path}#${chunk.ordinal}`,
    sourceId: path,
    sourceName: title ?? path.split('/').at(-1)!,
    url: null,
    headingPath: chunk.headingPath,
    page: chunk.page,
    text: chunk.text,
  }))
}

function debianFolder(name: string): string {
  const folder = join(CACHE, name)
  if (existsSync(folder)) return folder
  mkdirSync(folder, { recursive: true })
  execFileSync('apt-get', ['download', name], { cwd: CACHE, stdio: 'ignore' })
  const archive = readdirSync(CACHE).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'))!
  execFileSync('dpkg', ['-x', join(CACHE, archive), folder])
  return folder
}

/** The files of an installed package are read directly. */
function npmFolder(reference: string, integrity: string | undefined): string {
  const at = reference.lastIndexOf('@')
  const [name, version] = [reference.slice(0, at), reference.slice(at + 1)]
  const installed = join(import.meta.dirname, '../../node_modules', name)
  const manifest = join(installed, 'package.json')
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version) return installed
  const folder = join(CACHE, `${name.replace('/', '-')}-${version}`)
  if (existsSync(folder)) return join(folder, 'package')
  mkdirSync(folder, { recursive: true })
  execFileSync('npm', ['pack', reference, '--silent'], { cwd: folder, stdio: 'ignore' })
  const archive = readdirSync(folder).find((file) => file.endsWith('.tgz'))!
  const digest = createHash('sha512').update(readFileSync(join(folder, archive)))
  if (integrity !== undefined && integrity !== `sha512-${digest.digest('base64')}`) {
    rmSync(folder, { recursive: true })
    throw new Error(`The archive of ${reference} is not the one that the questions were written for.`)
  }
  execFileSync('tar', ['-xzf', archive], { cwd: folder })
  return join(folder, 'package')
}
