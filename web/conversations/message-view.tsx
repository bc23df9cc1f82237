import { type ReactNode, useState } from 'react'
import { containsWords } from '../../server/platform/text/words/words.ts'
import type { Message } from '../app/api.ts'
import { SourceList } from '../playground/source-list.tsx'
import { Ago } from '../ui/ago.tsx'
import { formatTime } from '../ui/format.ts'
import { ThumbsDown, ThumbsUp, Wrench } from '../ui/icons.ts'
import { linksToSources, Markdown } from '../ui/markdown.tsx'
import { Badge } from '../ui/page.tsx'
import classes from './conversations.module.css'
import { type MailOfMessage, MailPeople } from './mail-people.tsx'

export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

/** Says that an answer has no words, and why. */
export function silenceOf(finishReason: string | undefined): string {
  const why =
    finishReason === 'length'
      ? 'The model used up its tokens before the first word.'
      : finishReason === 'content-filter'
        ? 'The filter of the provider stopped it.'
        : finishReason === 'error'
          ? 'It broke off before the first word.'
          : 'It ended without a word.'
  return `No answer was given. ${why}`
}

type Spoken = { role: string; metadata?: { author?: { name?: string | null } } }

/** Returns who has said a message. */
export const speakerOf = ({ role, metadata }: Spoken): string =>
  role === 'user' ? 'Visitor' : (metadata?.author?.name ?? 'Agent')

type ChangeMarkProps = { editedAt: string | number | undefined; deletedAt: string | number | undefined }

/** Says that the author of a message has changed or deleted it on the channel. */
export function ChangeMark({ editedAt, deletedAt }: ChangeMarkProps) {
  const at = deletedAt ?? editedAt
  if (at === undefined) return null
  return (
    <Badge tone="neutral">
      {deletedAt === undefined ? 'Edited by the sender' : 'Deleted by the sender'} <Ago at={at} />
    </Badge>
  )
}

type Delivery = { status: string; error?: string | null | undefined }

/** Says that a message did not reach the customer, or not everybody it was sent to. */
export function DeliveryMark({ delivery }: { delivery: Delivery | undefined }) {
  if (!delivery || (delivery.status !== 'failed' && !delivery.error)) return null
  const { status, error } = delivery
  const isWaiting = status === 'queued' || status === 'sending'
  const what = isWaiting
    ? 'Not delivered yet'
    : status === 'failed'
      ? 'Not delivered'
      : 'Not delivered to all'
  return (
    <span className={classes.delivery}>
      <Badge tone={isWaiting ? 'warning' : 'danger'}>{error ? `${what}: ${error}` : what}</Badge>
    </span>
  )
}

type UngroundedProps = { values: NonNullable<NonNullable<Message['metadata']>['ungrounded']> }

/** Names the values of an answer that its model was not given. */
export function UngroundedMark({ values }: UngroundedProps) {
  return (
    <p>
      <Badge tone="warning">Check</Badge> The agent was given nothing that holds{' '}
      {new Intl.ListFormat('en').format(values.map(({ text }) => `“${text}”`))}.
    </p>
  )
}

const DONE = { sent: 'Sent as it was', changed: 'Sent after a change', discarded: 'Discarded' } as const

/** Says what a member has done with a held answer. */
export const heldWords = ({ what, by, at }: HeldOutcome): string =>
  `${DONE[what]} by ${by.name}, ${formatTime(at)}.`

export type HeldOutcome = NonNullable<NonNullable<Message['metadata']>['heldOutcome']>

type MessageViewProps = { message: Message; mail?: MailOfMessage | undefined; children?: ReactNode }

/** Shows a message with its author, sources and tool calls. `mail`: the mail that it is. */
export function MessageView({ message, mail, children }: MessageViewProps) {
  const { role, parts, createdAt, editedAt, deletedAt, feedback, metadata, attachments } = message
  const [open, setOpen] = useState<number | null>(null)
  const isVisitor = role === 'user'
  const who = speakerOf(message)
  const isSilent =
    !isVisitor &&
    metadata?.finishReason !== 'tool-calls' &&
    !attachments?.length &&
    !containsWords(textOf(message))
  const outputs = new Map(
    parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part.output]] : [])),
  )
  return (
    <article className={`${classes.message} ${isVisitor ? classes.visitor : ''}`} aria-label={who}>
      <header>
        <strong>{who}</strong> <Ago at={createdAt} />
        <ChangeMark editedAt={editedAt} deletedAt={deletedAt} />
        <DeliveryMark delivery={metadata?.delivery} />
        {feedback === 'positive' && <ThumbsUp size={14} aria-label="Rated good" />}
        {feedback === 'negative' && <ThumbsDown size={14} aria-label="Rated bad" className={classes.bad} />}
      </header>
      {mail && <MailPeople mail={mail} />}
      {parts.map((part, at) => {
        if (part.type === 'text') {
          return (
            <Markdown
              // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message keep their order
              key={at}
              text={part.text}
              onCite={isVisitor ? undefined : setOpen}
              mayLink={isVisitor || metadata?.author ? undefined : linksToSources(metadata?.sources)}
            />
          )
        }
        if (part.type === 'tool-result') return null
        return (
          <details key={part.toolCallId} className={classes.tool}>
            <summary>
              <Wrench size={14} aria-hidden /> {part.toolName}
            </summary>
            <pre>{JSON.stringify({ input: part.input, output: outputs.get(part.toolCallId) }, null, 2)}</pre>
          </details>
        )
      })}
      {metadata?.held && (
        <p>
          <Badge tone="warning">Held</Badge> The answer is a note of the ticket.{' '}
          {metadata.heldOutcome ? heldWords(metadata.heldOutcome) : 'It waits for a person.'}
        </p>
      )}
      {metadata?.forbiddenTopic && (
        <p>
          <Badge>Forbidden topic</Badge> <span dir="auto">{metadata.forbiddenTopic}</span>
        </p>
      )}
      {metadata?.ungrounded && <UngroundedMark values={metadata.ungrounded} />}
      {metadata?.reasoning && (
        <details className={classes.tool}>
          <summary>Reasoning of the model, which no customer sees</summary>
          <pre dir="auto">{metadata.reasoning}</pre>
        </details>
      )}
      {isSilent && <p className={classes.silent}>{silenceOf(metadata?.finishReason)}</p>}
      {attachments && attachments.length > 0 && (
        <ul className={classes.files}>
          {attachments.map(({ name, url }) => (
            <li key={name}>{url ? <a href={url}>{name}</a> : name}</li>
          ))}
        </ul>
      )}
      {metadata?.sources && metadata.sources.length > 0 && (
        <SourceList sources={metadata.sources} open={open} onOpen={setOpen} />
      )}
      {children}
    </article>
  )
}
