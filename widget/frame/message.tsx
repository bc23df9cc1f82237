import type { ComponentChildren } from 'preact'
import type { Chat } from './chat.ts'
import { CopyButton } from './copy-button.tsx'
import { FeedbackButtons } from './feedback-buttons.tsx'
import { Markdown } from './markdown.tsx'
import { Sources } from './sources.tsx'
import type { Appearance, Message } from './types.ts'

type Props = { chat: Chat; chatStyle: Appearance['chat']; message: Message; isComplete: boolean }

export function MessageView({ chat, chatStyle, message, isComplete }: Props) {
  const { id, role, text, author, sources, feedback } = message
  if (text === '') return null
  if (role === 'user') return <Bubble speaker="user" text={text} />
  const isOfAgent = author === null
  return (
    <Bubble speaker="assistant" text={text} author={author}>
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
}

type BubbleProps = {
  speaker: Message['role']
  text: string
  author?: string | null
  /** Not sent. */
  isPale?: boolean
  children?: ComponentChildren
}

export function Bubble({ speaker, text, author = null, isPale = false, children }: BubbleProps) {
  const name = speaker === 'user' ? 'You' : (author ?? 'Assistant')
  return (
    <article class={`message ${speaker}`} data-speaker={speaker} aria-label={name}>
      {author && (
        <p class="author">
          <span class="author-face" aria-hidden="true">
            {[...author][0]?.toUpperCase()}
          </span>
          {author}
        </p>
      )}
      <div class={`bubble ${isPale ? 'pale' : ''}`}>
        {speaker === 'user' ? <p class="said">{text}</p> : <Markdown text={text} />}
      </div>
      {children}
    </article>
  )
}

export function Thinking({ isActing }: { isActing: boolean }) {
  return (
    <div class="message assistant">
      <div class="bubble thinking">
        <span class="visually-hidden">{isActing ? 'Working on this page' : 'Writing an answer'}</span>
        <i />
        <i />
        <i />
      </div>
    </div>
  )
}
