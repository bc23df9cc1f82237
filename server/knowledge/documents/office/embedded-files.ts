import { posix } from 'node:path'
import { runInNewContext } from 'node:vm'
import { CFB, read, write } from '@e965/xlsx'
import { ExtractFailure } from '../extract-failure.ts'
import type { DocumentInput, Embedded, ExtractedDocument, Section } from '../extracted-document.ts'
import { gapCounter } from '../gaps.ts'
import { isOle, sniffType } from '../sniff-type.ts'
import { type Parts, targetsOf, type XmlElement } from './office-xml.ts'
import { zipDirectory } from './zip-directory.ts'

/** What may still be read of the files within a file, and within those. */
export type Room = { files: number; bytes: number; depth: number }
export const roomForEmbedded = (): Room => ({ files: 100, bytes: 64 * 1_048_576, depth: 3 })

/** How formats of pictures, fonts and sounds begin. */
const WITHOUT_TEXT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are bytes
  /^(?:\x89PNG|\xff\xd8\xff|GIF8|BM|II\*\0|MM\0\*|RIFF|\xd7\xcd\xc6\x9a|\x01\0\0\0[\s\S]{36} EMF|\0\x01\0\0|OTTO|ttcf|wOF[F2]|ID3|OggS|[\s\S]{4}ftyp)/
const SIGNED = 48
const LONGEST_MS = 2_000

type Named = { name: string; bytes: Uint8Array }

/** Returns the parts of the files that elements of a part stand for; null for those that are elsewhere. */
export function partsOf(parts: Parts, path: string, elements: readonly XmlElement[]): (string | null)[] {
  const targets = targetsOf(parts, path)
  const found = elements.map((element) => targets.get(element.getAttribute('r:id') ?? '')?.path ?? null)
  // Two ways to show the same file have the same part.
  return found.filter((one, at) => one === null || found.indexOf(one) === at)
}

/** Returns a document with the texts of the files embedded in it, each after the place where it stands. */
export async function withEmbedded(
  { embedded, ...document }: ExtractedDocument,
  host: Uint8Array,
  room: Room,
  extract: (input: DocumentInput) => Promise<ExtractedDocument>,
): Promise<ExtractedDocument> {
  if (!embedded) return document
  const missing = gapCounter()
  const entries = new Map(zipDirectory(host).map((entry) => [entry.name, entry]))
  const found: { file: Embedded; name: string; inner: ExtractedDocument }[] = []
  for (const file of embedded.files) {
    const entry = entries.get(file.part ?? '')
    room.files -= 1
    room.bytes -= entry?.size ?? 0
    if (!entry || room.files < 0 || room.bytes < 0 || room.depth <= 0) missing.add('objects', file.place)
    else {
      const one = await readOne({ name: posix.basename(entry.name), bytes: entry.read() }, extract)
      if (one === 'unread') missing.add('objects', file.place)
      else if (one) found.push({ file, ...one })
    }
  }
  const sections = placed(
    document.sections,
    found.map(({ file, name, inner }) => ({ file, sections: within(file, name, inner.sections) })),
  )
  if (sections.length === 0) throw new ExtractFailure('no_text', 'This file contains no text.')
  const inside = found.flatMap(({ name, inner }) =>
    (inner.gaps ?? []).map((gap) => ({ ...gap, place: [name, gap.place].filter(Boolean).join(', ') })),
  )
  return {
    ...document,
    title: document.title ?? sections[0]!.headingPath[0] ?? null,
    sections,
    bytes: document.bytes + found.reduce((sum, { inner }) => sum + inner.bytes, 0),
    gaps: [...missing.gaps(embedded.unit), ...(document.gaps ?? []), ...inside],
  }
}

/** Returns null for a file that has no text. */
async function readOne(
  file: Named,
  extract: (input: DocumentInput) => Promise<ExtractedDocument>,
): Promise<{ name: string; inner: ExtractedDocument } | 'unread' | null> {
  try {
    const content = inTime(() => contentOf(file))
    if (content.bytes.length === 0 || WITHOUT_TEXT.test(startOf(content.bytes))) return null
    const type = typeOf(content)
    if (!type) return 'unread'
    try {
      const inner = await extract({ type, bytes: content.bytes, filename: content.name })
      const isNamed = content.name !== file.name
      return { name: isNamed ? content.name : (inner.title ?? file.name), inner }
    } catch (error) {
      // The pages of a PDF without text may be scanned.
      if (error instanceof ExtractFailure && error.code === 'no_text' && type !== 'pdf') return null
      throw error
    }
  } catch (error) {
    if (error instanceof RangeError && /alloc/i.test(error.message)) throw error
    return 'unread'
  }
}

/** A damaged container may name a part of itself as what follows it, and the library reads it without an end. */
const inTime = <T>(run: () => T): T => runInNewContext('run()', { run }, { timeout: LONGEST_MS })

const startOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, SIGNED)).toString('latin1')

/** The names that programs give to embedded files do not always say of which type they are. */
const typeOf = ({ name, bytes }: Named) =>
  sniffType(bytes, name) ??
  (['docx', 'xlsx', 'pptx', 'pdf', 'doc'] as const).find((type) => sniffType(bytes, `a.${type}`))

/** Returns the file that a program put into the container of OLE, or the file itself. */
function contentOf({ name, bytes }: Named): Named {
  if (!isOle(bytes)) return { name, bytes }
  const container = CFB.read(Buffer.from(bytes), { type: 'buffer' })
  const stream = (path: string): Buffer | null => {
    const content: Uint8Array | undefined = CFB.find(container, path)?.content
    return content ? Buffer.from(content) : null
  }
  const whole = stream('/Package') ?? stream('/CONTENTS')
  if (whole) return contentOf({ name, bytes: whole })
  const native = stream('/\u0001Ole10Native')
  if (native) return nativeFile(native)
  if (stream('/Workbook') ?? stream('/Book')) {
    const options = { type: 'buffer', cellNF: true } as const
    const book: Buffer = write(read(Buffer.from(bytes), options), { type: 'buffer', bookType: 'xlsx' })
    return { name, bytes: book }
  }
  return { name, bytes }
}

/** Reads the structure in which the packager of Windows keeps a file: its label, its path, and its bytes. */
function nativeFile(native: Buffer): Named {
  const text = (from: number): string => native.toString('latin1', from, native.indexOf(0, from))
  const label = text(6)
  const path = text(6 + label.length + 1)
  const at = 6 + label.length + 1 + path.length + 1 + 4
  const start = at + 4 + native.readUInt32LE(at)
  const bytes = native.subarray(start + 4, start + 4 + native.readUInt32LE(start))
  return { name: label.split(/[\\/]/).at(-1) ?? label, bytes }
}

/** Returns the sections of an embedded file under its name, where it stands. */
const within = ({ page, headingPath }: Embedded, name: string, sections: readonly Section[]): Section[] =>
  sections.map(({ headingPath: own, text }) => ({
    headingPath: [...headingPath, ...(own[0] === name ? own : [name, ...own])],
    page,
    text,
  }))

/** Puts the sections of each file after the last one of its page or heading, or else at the end. */
function placed(
  sections: readonly Section[],
  added: readonly { file: Embedded; sections: Section[] }[],
): Section[] {
  const rest = new Set(added)
  const all = sections.flatMap((section, at) => {
    const here = [...rest].filter(({ file }) => {
      const isPlace = ({ page, headingPath }: Section): boolean =>
        file.page === null ? headingPath[0] === file.headingPath[0] : page === file.page
      return (
        (file.page !== null || file.headingPath.length > 0) &&
        isPlace(section) &&
        !sections.slice(at + 1).some(isPlace)
      )
    })
    for (const one of here) rest.delete(one)
    return [section, ...here.flatMap((one) => one.sections)]
  })
  const late = [...rest].flatMap((one) => one.sections)
  return [...all, ...late].sort((a, b) => (a.page ?? 0) - (b.page ?? 0))
}
