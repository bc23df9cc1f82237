import { useState } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import type { Appearance, Suggestion } from './types.ts'
import { word } from './words.ts'

type Props = { chat: Chat; suggestions: Appearance['suggestedMessages'] }

export function Suggestions({ chat, suggestions }: Props) {
  const [open, setOpen] = useState<Suggestion | null>(null)
  const ordered = byOrder(suggestions ?? [])
  if (ordered.length === 0) return null
  const ask = (text: string, icon?: string | null) => (
    <button type="button" class="suggestion" dir="auto" onClick={() => void chat.send(text)}>
      {emojiOf(icon)}
      {text}
    </button>
  )
  return (
    <ul class="suggestions" aria-label={word('suggestions')}>
      {ordered.map((suggestion) =>
        suggestion.type === 'single' ? (
          <li key={suggestion.text}>{ask(suggestion.text, suggestion.icon)}</li>
        ) : (
          <li key={suggestion.name}>
            <button
              type="button"
              class="suggestion"
              dir="auto"
              aria-expanded={open === suggestion}
              onClick={() => setOpen(open === suggestion ? null : suggestion)}
            >
              {emojiOf(suggestion.icon)}
              {suggestion.name}
              <Icon name="chevron" />
            </button>
            {open === suggestion && (
              <ul class="suggestions inner">
                {byOrder(suggestion.items).map(({ text, icon }) => (
                  <li key={text}>{ask(text, icon)}</li>
                ))}
              </ul>
            )}
          </li>
        ),
      )}
    </ul>
  )
}

/** Renders the icon if it is an emoji. The API also accepts names of icons, which must not be shown to visitors. */
const emojiOf = (icon: string | null | undefined) =>
  icon && /^\p{Extended_Pictographic}.{0,15}$|^\p{Regional_Indicator}{2}$/u.test(icon) ? (
    <span class="emoji" aria-hidden="true">
      {icon}
    </span>
  ) : null

const byOrder = <T extends { order: number }>(list: T[]): T[] => [...list].sort((a, b) => a.order - b.order)
