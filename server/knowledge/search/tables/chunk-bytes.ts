import type { IndexedChunk } from '../passage.ts'

/** Bytes of what a slot holds beside its postings. */
export function bytesOfChunk(chunk: IndexedChunk, sentences: Int8Array | null): number {
  const texts = [chunk.text, chunk.url ?? '', ...chunk.headingPath, ...(chunk.questions ?? [])]
  return texts.reduce((sum, text) => sum + bytesOfString(text), 0) + (sentences?.byteLength ?? 0)
}

/** The engine keeps a string at one byte a character as long as all are Latin-1. */
function bytesOfString(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length
}
