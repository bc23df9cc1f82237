import type { ComponentChildren } from 'preact'
import type { Chat } from './chat.ts'
import { CopyButton } from './copy-button.tsx'
import { FeedbackButtons } from './feedback-buttons.tsx'
import { hostOf, LinkRule, linksTo } from './link-rule.ts'
import { Markdown } from './markdown.tsx'
import { Sources } from './sources.tsx'
import type { Appearance, Message } from './types.ts'

type Props = {
  chat: Chat
  chatStyle: Appearance['chat']
  linkHosts: Appearance['linkHosts']
  message: Message
  isComplete: boolean
  language: string | null
}

export function MessageView({ chat, chatStyle, linkHosts, message, isComplete, language }: Props) {
  const { id, role, text, author, sources, feedback } = message
  if (text === '') return null
  if (role === 'user') return <Bubble speaker="user" text={text} language={language} />
  const isOfAgent = author === null
  const bubble = (
    <Bubble speaker="assistant" text={text} language={language} author={author}>
      {sources.length > 0 && <Sources sources={sources} />}
      {isComplete && isOfAgent && (chatStyle.showFeedback || chatStyle.showCopyButton) && (
        <div class="message-tools">
          {chatStyle.showCopyButton && <CopyButton text={text} />}
          {chatStyle.showFeedback && (
            <FeedbackButtons feedback={feedback} rate={(next) => void chat.rate(id, next)} />
          )}
        </div>
      )}
    </Bubble>
  )
  if (!isOfAgent) return bubble
  const hosts = [
    location.hostname,
    chat.page.siteHost(),
    ...linkHosts,
    ...sources.map(({ url }) => hostOf(url)),
  ]
  return (
    <LinkRule.Provider value={linksTo(hosts.filter((host) => host !== null))}>{bubble}</LinkRule.Provider>
  )
}

type BubbleProps = {
  speaker: Message['role']
  text: string
  /** What the page around the chat is written in; the buttons are English. */
  language: string | null
  author?: string | null
  /** Not sent. */
  isPale?: boolean
  children?: ComponentChildren
}

export function Bubble({ speaker, text, language, author = null, isPale = false, children }: BubbleProps) {
  const name = speaker === 'user' ? 'You' : (author ?? 'Assistant')
  return (
    <article class={`message ${speaker}`} data-speaker={speaker} aria-label={name}>
      {author && (
        <p class="author">
          <span class="author-face" aria-hidden="true">
            {[...author][0]?.toUpperCase()}
          </span>
          <bdi>{author}</bdi>
        </p>
      )}
      <div class={`bubble ${isPale ? 'pale' : ''}`} lang={language ?? undefined}>
        {speaker === 'user' ? (
          <p class="said" dir="auto">
            {text}
          </p>
        ) : (
          <Markdown text={text} />
        )}
      </div>
      {children}
    </article>
  )
}

/** What it means is said by the status line. */
export function Thinking() {
  return (
    <div class="message assistant" aria-hidden="true">
      <div class="bubble thinking">
        <i />
        <i />
        <i />
      </div>
    </div>
  )
}
