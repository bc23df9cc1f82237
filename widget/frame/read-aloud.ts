import { spokenText } from './parse-inline.ts'
import { type Block, parseMarkdown } from './parse-markdown.ts'

/** Browsers cut longer utterances off. */
const MAX_LENGTH = 200

/** Reads a text aloud; ends early when `signal` aborts. Never throws. */
export async function readAloud(
  text: string,
  { language, speed }: { language: string | null; speed: number },
  signal: AbortSignal,
): Promise<void> {
  if (!('speechSynthesis' in window)) return
  const cancel = (): void => speechSynthesis.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  for (const piece of parseMarkdown(text).flatMap(linesOf).flatMap(sentencesOf)) {
    if (signal.aborted) break
    await new Promise<void>((resolve) => {
      const utterance = new SpeechSynthesisUtterance(piece)
      utterance.rate = speed
      if (language !== null) utterance.lang = language
      utterance.onend = () => resolve()
      utterance.onerror = () => resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
      speechSynthesis.speak(utterance)
    })
  }
  signal.removeEventListener('abort', cancel)
}

function linesOf(block: Block): string[] {
  if ('inline' in block) return [spokenText(block.inline)]
  if (block.type === 'list') return block.items.flatMap((item) => item.flatMap(linesOf))
  if (block.type === 'table') return block.rows.map((row) => row.map(spokenText).join(', '))
  return block.type === 'quote' ? block.blocks.flatMap(linesOf) : []
}

function sentencesOf(line: string): string[] {
  const pieces: string[] = []
  for (const sentence of line.match(/[^.!?…。！？]+[.!?…。！？]*\s*|\S+/g) ?? []) {
    const last = pieces.at(-1)
    if (last !== undefined && last.length + sentence.length < MAX_LENGTH)
      pieces[pieces.length - 1] = last + sentence
    else pieces.push(sentence)
  }
  return pieces
}
