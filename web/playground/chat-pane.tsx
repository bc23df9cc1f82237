import { ArrowUp, Square } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { IconButton } from '../ui/button.tsx'
import { Markdown } from '../ui/markdown.tsx'
import classes from './playground.module.css'
import { SourceList } from './source-list.tsx'
import { type Said, useChat } from './use-chat.ts'

type ChatPaneProps = {
  agentId: string
  placeholder?: string
  suggestions?: string[]
  /** Called with the answer that the user selects, and with each new state of the newest answer. */
  onInspect?: (message: Said) => void
}

export function ChatPane({ agentId, placeholder, suggestions = [], onInspect }: ChatPaneProps) {
  const chat = useChat(agentId)
  const end = useRef<HTMLDivElement>(null)
  const newest = chat.messages.at(-1)
  useEffect(() => {
    if (!newest) return
    end.current?.scrollIntoView({ block: 'nearest' })
    if (newest.role === 'assistant') onInspect?.(newest)
  }, [newest, onInspect])
  return (
    <div className={classes.chat}>
      <div
        className={classes.log}
        role="log"
        aria-label="Conversation"
        aria-busy={chat.isRunning}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
      >
        {chat.messages.length === 0 && (
          <div className={classes.first}>
            <p>Ask what a visitor would ask.</p>
            {suggestions.map((text) => (
              <button
                key={text}
                type="button"
                className={classes.suggestion}
                onClick={() => void chat.ask(text)}
              >
                {text}
              </button>
            ))}
          </div>
        )}
        {chat.messages.map((message) =>
          message.role === 'user' ? (
            <p key={message.id} className={classes.question} dir="auto">
              {message.text}
            </p>
          ) : (
            <Answer key={message.id} message={message} isRunning={chat.isRunning} onInspect={onInspect} />
          ),
        )}
        <div ref={end} />
      </div>
      <Composer
        placeholder={placeholder ?? 'Ask a question'}
        isRunning={chat.isRunning}
        onSend={(text) => void chat.ask(text)}
        onStop={() => void chat.stop()}
      />
    </div>
  )
}

type AnswerProps = { message: Said; isRunning: boolean; onInspect?: (message: Said) => void }

function Answer({ message, isRunning, onInspect }: AnswerProps) {
  const [open, setOpen] = useState<number | null>(null)
  return (
    <article className={classes.answer} aria-label="Answer">
      {message.text === '' && isRunning && !message.problem ? (
        <p className={classes.thinking} role="status">
          Looking it up…
        </p>
      ) : (
        <Markdown text={message.text} onCite={(number) => setOpen(number)} />
      )}
      {message.problem && (
        <p className={classes.problem} role="alert">
          {message.problem}
        </p>
      )}
      {message.sources.length > 0 && <SourceList sources={message.sources} open={open} onOpen={setOpen} />}
      {onInspect && message.finishReason && (
        <button type="button" className={classes.why} onClick={() => onInspect(message)}>
          Why this answer?
        </button>
      )}
    </article>
  )
}

type ComposerProps = {
  placeholder: string
  isRunning: boolean
  onSend: (text: string) => void
  onStop: () => void
}

function Composer({ placeholder, isRunning, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('')
  const send = (): void => {
    if (text.trim() === '' || isRunning) return
    onSend(text.trim())
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div className={classes.composer}>
      <textarea
        aria-label="Question"
        rows={1}
        dir="auto"
        placeholder={placeholder}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning ? (
        <IconButton icon={Square} label="Stop the answer" onClick={onStop} />
      ) : (
        <IconButton
          icon={ArrowUp}
          label="Send"
          className={classes.send}
          disabled={text.trim() === ''}
          onClick={send}
        />
      )}
    </div>
  )
}
