import { useState } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import type { Appearance, Suggestion } from './types.ts'
import { word } from './words.ts'

type Props = { chat: Chat; suggestions: Appearance['suggestedMessages'] }

export function Suggestions({ chat, suggestions }: Props) {
  const [open, setOpen] = useState<Suggestion | null>(null)
  const ordered = byOrder((suggestions ?? []) as Suggestion[])
  if (ordered.length === 0) return null
  const ask = (text: string) => (
    <button type="button" class="suggestion" dir="auto" onClick={() => void chat.send(text)}>
      {text}
    </button>
  )
  return (
    <ul class="suggestions" aria-label={word('suggestions')}>
      {ordered.map((suggestion) =>
        suggestion.type === 'single' ? (
          <li key={suggestion.text}>{ask(suggestion.text)}</li>
        ) : (
          <li key={suggestion.name}>
            <button
              type="button"
              class="suggestion"
              dir="auto"
              aria-expanded={open === suggestion}
              onClick={() => setOpen(open === suggestion ? null : suggestion)}
            >
              {suggestion.name}
              <Icon name="chevron" />
            </button>
            {open === suggestion && (
              <ul class="suggestions inner">
                {byOrder(suggestion.items).map(({ text }) => (
                  <li key={text}>{ask(text)}</li>
                ))}
              </ul>
            )}
          </li>
        ),
      )}
    </ul>
  )
}

const byOrder = <T extends { order: number }>(list: T[]): T[] => [...list].sort((a, b) => a.order - b.order)
