import type { IndexedChunk } from '../passage.ts'

/** Returns the bytes that a slot uses in addition to its postings. */
export function bytesOfChunk(chunk: IndexedChunk, sentences: Int8Array | null): number {
  const texts = [chunk.text, chunk.url ?? '', ...chunk.headingPath, ...(chunk.questions ?? [])]
  return texts.reduce((sum, text) => sum + bytesOfString(text), 0) + (sentences?.byteLength ?? 0)
}

/** The engine stores a string with one byte per character if all of them are Latin-1. */
function bytesOfString(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length
}
