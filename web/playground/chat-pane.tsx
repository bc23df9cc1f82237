import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { CUSTOMER_SENTENCES } from '../../server/platform/text/languages/customer-sentences.ts'
import { containsWords } from '../../server/platform/text/words/words.ts'
import { useKept } from '../app/use-kept.ts'
import { silenceOf } from '../conversations/message-view.tsx'
import { IconButton } from '../ui/button.tsx'
import { ArrowUp, Square } from '../ui/icons.ts'
import { linksToSources, Markdown } from '../ui/markdown.tsx'
import { Badge } from '../ui/page.tsx'
import { GiveResult } from './give-result.tsx'
import classes from './playground.module.css'
import { SourceList } from './source-list.tsx'
import { type Draft, type ToolCall, type TrialMessage, useChat, waitingCalls } from './use-chat.ts'

type ChatPaneProps = {
  agentId: string
  placeholder?: string
  suggestions?: string[]
  /** The settings to try out instead of the saved ones. */
  draft?: Draft
  /** The name under which the conversation and the question in the field are kept for a reload of the page. */
  name?: string
  /** Called with the answer that the user selects, and with each new state of the newest answer. */
  onInspect?: (inspected: Inspected) => void
}

type Inspected = { message: TrialMessage; question: string }

export function ChatPane({ agentId, name, placeholder, suggestions = [], draft, onInspect }: ChatPaneProps) {
  const chat = useChat(agentId, name)
  const end = useRef<HTMLDivElement>(null)
  const newest = chat.messages.at(-1)
  const asked = chat.messages.findLast(({ role }) => role === 'user')?.text ?? ''
  useLayoutEffect(() => {
    if (newest) void end.current?.scrollIntoView({ block: 'nearest' })
  }, [newest])
  useEffect(() => {
    if (newest?.role === 'assistant') onInspect?.({ message: newest, question: asked })
  }, [newest, asked, onInspect])
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
                onClick={() => void chat.ask(text, draft)}
              >
                {text}
              </button>
            ))}
          </div>
        )}
        {chat.messages.map((message, at) =>
          message.role === 'user' ? (
            <p key={message.id} className={classes.question} dir="auto">
              {message.text}
            </p>
          ) : (
            <Answer
              key={message.id}
              message={message}
              isRunning={chat.isRunning}
              onAccept={
                message === newest && !chat.isRunning
                  ? (title) => void chat.ask(title, draft, true)
                  : undefined
              }
              onResult={(call, output) => chat.giveResult(message, call, output, draft)}
              onInspect={
                onInspect && (() => onInspect({ message, question: chat.messages[at - 1]?.text ?? '' }))
              }
            />
          ),
        )}
        <div ref={end} />
      </div>
      <Composer
        name={name}
        placeholder={placeholder ?? 'Ask a question'}
        isRunning={chat.isRunning}
        onSend={(text) => void chat.ask(text, draft)}
        onStop={() => void chat.stop()}
      />
    </div>
  )
}

const PERSON = CUSTOMER_SENTENCES.en.person

type AnswerProps = {
  message: TrialMessage
  isRunning: boolean
  /** Sends the message with which a customer accepts the offer of the answer. */
  onAccept?: ((title: string) => void) | undefined
  onResult: (call: ToolCall, output: unknown) => Promise<void>
  onInspect?: (() => void) | undefined
}

export function Answer({ message, isRunning, onAccept, onResult, onInspect }: AnswerProps) {
  const [open, setOpen] = useState<number | null>(null)
  return (
    <article className={classes.answer} aria-label={message.version ? 'Answer of the draft' : 'Answer'}>
      {message.version && (
        <div>
          <Badge tone="warning">draft</Badge>
        </div>
      )}
      {message.text === '' && isRunning && !message.problem ? (
        <p className={classes.thinking} role="status">
          Looking it up…
        </p>
      ) : (
        <Markdown
          text={message.text}
          onCite={(number) => setOpen(number)}
          mayLink={linksToSources(message.sources)}
        />
      )}
      {message.finishReason &&
        !containsWords(message.text) &&
        message.finishReason !== 'tool-calls' &&
        !message.problem && <p className={classes.silent}>{silenceOf(message.finishReason)}</p>}
      {message.problem && (
        <p className={classes.problem} role="alert">
          {message.problem}
        </p>
      )}
      {message.sources.length > 0 && <SourceList sources={message.sources} open={open} onOpen={setOpen} />}
      {message.offer && onAccept && (
        <button type="button" className={classes.suggestion} onClick={() => onAccept(PERSON)}>
          {PERSON}
        </button>
      )}
      {waitingCalls(message).map((call) => (
        <GiveResult key={call.id} call={call} onResult={(output) => onResult(call, output)} />
      ))}
      {onInspect && message.finishReason && (
        <button type="button" className={classes.why} onClick={onInspect}>
          Why this answer?
        </button>
      )}
    </article>
  )
}

type ComposerProps = {
  name: string | undefined
  placeholder: string
  isRunning: boolean
  onSend: (text: string) => void
  onStop: () => void
}

export function Composer({ name, placeholder, isRunning, onSend, onStop }: ComposerProps) {
  const [text, setText] = useKept(
    name === undefined ? 'question' : `${name} question`,
    () => '',
    (typed) => name !== undefined && typed !== '',
  )
  const field = useRef<HTMLTextAreaElement>(null)
  const send = (): void => {
    if (text.trim() === '' || isRunning) return
    onSend(text.trim())
    setText('')
    field.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229)
      return
    event.preventDefault()
    send()
  }
  return (
    <div className={classes.composer}>
      <textarea
        ref={field}
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
