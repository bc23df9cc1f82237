import { useEffect, useState } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import { LoadingLines } from './loading-lines.tsx'
import { problemOf } from './problem-of.ts'
import type { ConversationSummary } from './types.ts'
import { shownLanguage, word } from './words.ts'

export function ConversationList({ chat, shownId }: { chat: Chat; shownId: string | null }) {
  const [list, setList] = useState<ConversationSummary[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const load = async (): Promise<void> => {
    setProblem(null)
    try {
      setList(await chat.conversations())
    } catch (error) {
      setProblem(problemOf(error, 'load', chat.store.get().appearance).sentence)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is loaded once
  useEffect(() => void load(), [])

  if (problem) {
    return (
      <div class="conversations empty" role="alert">
        <p>{problem}</p>
        <button type="button" class="text-button" onClick={() => void load()}>
          {word('retry')}
        </button>
      </div>
    )
  }
  if (!list) {
    return (
      <div class="conversations">
        <LoadingLines label={word('loading')} />
      </div>
    )
  }
  return (
    <div class="conversations">
      {list.length === 0 ? (
        <p class="empty">{word('noConversations')}</p>
      ) : (
        <ul>
          {list.map(({ id, title, updatedAt, status }) => (
            <li key={id}>
              <button
                type="button"
                aria-current={id === shownId}
                onClick={() => void chat.openConversation(id)}
              >
                <span class="conversation-title" dir="auto">
                  {title || word('untitled')}
                </span>
                <span class="conversation-facts">
                  <time dateTime={new Date(updatedAt * 1000).toISOString()}>{dateOf(updatedAt)}</time>
                  {status === 'ended' && ` · ${word('endedShort')}`}
                  {status === 'taken_over' && ` · ${word('withTeam')}`}
                </span>
                <Icon name="chevron" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <button type="button" class="main-button" onClick={chat.startNew}>
        {word('new')}
      </button>
    </div>
  )
}

/** Formats a time of today as the time, and an earlier one as the date. */
function dateOf(epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000)
  const now = new Date()
  if (date.toDateString() === now.toDateString()) {
    return date.toLocaleTimeString(shownLanguage(), { hour: 'numeric', minute: '2-digit' })
  }
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return date.toLocaleDateString(shownLanguage(), { day: 'numeric', month: 'short', year })
}
