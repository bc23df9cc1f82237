import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Attachments } from './attachments.tsx'
import { BASE } from './base.ts'
import type { Chat } from './chat.ts'
import { CopyButton } from './copy-button.tsx'
import { FeedbackButtons } from './feedback-buttons.tsx'
import { hostOf, LinkRule, linksTo } from './link-rule.ts'
import { Markdown } from './markdown.tsx'
import { Sources, SourcesOfMessage } from './sources.tsx'
import type { Appearance, Attachment, Message } from './types.ts'
import { sentence, shownLanguage, word } from './words.ts'

/** The position of a message within a group of consecutive messages of the same speaker. */
export type MessagePosition = { isFirst: boolean; isLast: boolean }

type Props = {
  chat: Chat
  appearance: Appearance
  message: Message
  isComplete: boolean
  language: string | null
  place: MessagePosition
}

export function MessageView({ chat, appearance, message, isComplete, language, place }: Props) {
  const { id, role, isSilent, author, sources, attachments, feedback, createdAt } = message
  const text = isSilent ? sentence('noAnswer') : message.text
  const [open, setOpen] = useState<number | null>(null)
  const isHidden = appearance.stage?.showDataSource === false
  const cited = useMemo(
    () => ({
      sources,
      isHidden,
      isComplete,
      open,
      toggle: (number: number) => setOpen(open === number ? null : number),
    }),
    [sources, isHidden, isComplete, open],
  )
  if (text === '' && attachments.length === 0) return null
  const time = place.isLast && isComplete ? createdAt : null
  if (role === 'user')
    return (
      <Bubble speaker="user" text={text} files={attachments} language={language} place={place} time={time} />
    )
  const isOfAgent = author === null
  const { showFeedback, showCopyButton } = appearance.chat
  const bubble = (
    <SourcesOfMessage.Provider value={cited}>
      <Bubble
        speaker="assistant"
        text={text}
        files={attachments}
        language={language}
        author={author}
        appearance={appearance}
        place={place}
        time={time}
      >
        {sources.length > 0 && !isHidden && <Sources />}
        {isComplete && isOfAgent && (showFeedback || showCopyButton) && (
          <div class="message-tools">
            {showCopyButton && <CopyButton text={text} />}
            {showFeedback && (
              <FeedbackButtons feedback={feedback} rate={(next) => void chat.rate(id, next)} />
            )}
          </div>
        )}
      </Bubble>
    </SourcesOfMessage.Provider>
  )
  if (!isOfAgent) return bubble
  const hosts = [
    location.hostname,
    chat.page.siteHost(),
    ...appearance.linkHosts,
    ...sources.map(({ url }) => hostOf(url)),
  ]
  return (
    <LinkRule.Provider value={linksTo(hosts.filter((host) => host !== null))}>{bubble}</LinkRule.Provider>
  )
}

type BubbleProps = {
  speaker: Message['role']
  text: string
  files?: readonly (Omit<Attachment, 'url'> & { url?: string | null })[]
  /** The language of the embedding page. */
  language: string | null
  author?: string | null
  /** The agent's styles and avatar; absent for other speakers. */
  appearance?: Appearance
  place?: MessagePosition
  /** The time in Unix seconds, or null to show none. */
  time?: number | null
  /** Whether the message is shown pale, because it has not been sent. */
  isPale?: boolean
  children?: ComponentChildren
}

const ALONE: MessagePosition = { isFirst: true, isLast: true }

export function Bubble({
  speaker,
  text,
  files = [],
  language,
  author = null,
  appearance,
  place = ALONE,
  time = null,
  isPale = false,
  children,
}: BubbleProps) {
  const name = speaker === 'user' ? word('you') : (author ?? word('agent'))
  const joined = `${place.isFirst ? '' : 'joined-above'} ${place.isLast ? '' : 'joined-below'}`
  return (
    <article class={`message ${speaker} ${joined}`} data-speaker={speaker} aria-label={name}>
      {author && place.isFirst && (
        <p class="author">
          <bdi>{author}</bdi>
        </p>
      )}
      {speaker === 'assistant' && place.isLast && <Avatar author={author} appearance={appearance} />}
      {text !== '' && (
        <div class={`bubble ${isPale ? 'pale' : ''}`} lang={language ?? undefined}>
          {speaker === 'user' ? (
            <p class="said" dir="auto">
              {text}
            </p>
          ) : (
            <Markdown text={text} />
          )}
        </div>
      )}
      {files.length > 0 && <Attachments files={files} />}
      {children}
      {time !== null && <Time seconds={time} />}
    </article>
  )
}

function Avatar({ author, appearance }: { author: string | null; appearance: Appearance | undefined }) {
  const picture = author === null ? (appearance?.pictures.profile ?? appearance?.pictures.icon) : null
  if (picture) return <img class="avatar" src={BASE + picture} alt="" />
  const [letter = ''] = [...(author ?? appearance?.name ?? '')]
  return (
    <span class={`avatar ${author === null ? '' : 'of-person'}`} aria-hidden="true">
      {letter.toUpperCase()}
    </span>
  )
}

/** Shows a time of today as the time alone, and an earlier one with its date. */
function Time({ seconds }: { seconds: number }) {
  const date = new Date(seconds * 1_000)
  const isToday = date.toDateString() === new Date().toDateString()
  const day = isToday ? {} : ({ day: 'numeric', month: 'short' } as const)
  const text = date.toLocaleString(shownLanguage(), { ...day, hour: 'numeric', minute: '2-digit' })
  return (
    <time class="time" dateTime={date.toISOString()}>
      {text}
    </time>
  )
}

/**
 * The typing indicator, with words when nothing has come for a while. It is hidden from screen readers; the status line
 * announces the state instead.
 */
export function Thinking({ appearance, isLong }: { appearance: Appearance; isLong: boolean }) {
  return (
    <div class="message assistant" aria-hidden="true">
      <Avatar author={null} appearance={appearance} />
      <div class="bubble thinking">
        <i />
        <i />
        <i />
        {isLong && <span>{word('considering')}</span>}
      </div>
    </div>
  )
}
