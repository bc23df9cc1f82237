import { wordsOnly } from '../../../text/words/words.ts'
import type { IndexedChunk } from '../passage.ts'

/** Records which slots contain a question, compared by its words alone. */
export type ExactQuestions = Map<string, Set<number>>

export function addQuestions(exact: ExactQuestions, slot: number, chunk: IndexedChunk): void {
  for (const key of keysOf(chunk)) {
    const slots = exact.get(key)
    if (slots) slots.add(slot)
    else exact.set(key, new Set([slot]))
  }
}

export function removeQuestions(exact: ExactQuestions, slot: number, chunk: IndexedChunk): void {
  for (const key of keysOf(chunk)) {
    const slots = exact.get(key)
    slots?.delete(slot)
    if (slots?.size === 0) exact.delete(key)
  }
}

/** Returns the slots whose questions equal this one, oldest first. */
export function findQuestion(exact: ExactQuestions, question: string): number[] {
  const key = wordsOnly(question)
  return key === '' ? [] : [...(exact.get(key) ?? [])]
}

function keysOf(chunk: IndexedChunk): string[] {
  return (chunk.questions ?? []).map(wordsOnly).filter((key) => key !== '')
}
