import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useRef } from 'react'
import { call, listing, reading, type Ticket, type TicketMessage } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Explanation } from '../conversations/explanation.tsx'
import { type MailOfMessage, MailPeople } from '../conversations/mail-people.tsx'
import { ChangeMark, DeliveryMark, MessageView } from '../conversations/message-view.tsx'
import { OriginalMail } from '../conversations/original-mail.tsx'
import { readingConversation } from '../conversations/read-conversation.ts'
import { MakeCase } from '../evaluations/make-case.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { linksToSources, Markdown } from '../ui/markdown.tsx'
import { Badge } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { eventWords } from './event-words.ts'
import { Forward } from './forward.tsx'
import { type Held, HeldAnswer } from './held-answer.tsx'
import classes from './thread.module.css'
import { refresh, TICKETS } from './use-live-desk.ts'

type ThreadProps = { agentId: string; ticketNumber: number; ticket: Ticket }

/** Shows all messages and events of a ticket, the newest at the bottom. */
export function Thread({ agentId, ticketNumber, ticket }: ThreadProps) {
  const end = useRef<HTMLDivElement>(null)
  const { conversationId } = ticket
  const earlier = useQuery({
    ...readingConversation(agentId, conversationId ?? ''),
    enabled: conversationId !== null,
  })
  const messages = useInfiniteQuery(
    listing('/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages', {
      params: { agentId, ticketNumber },
      query: { limit: 100, types: 'reply,note,event', order: 'desc' },
    }),
  )
  const entries = (messages.data?.pages.flatMap(({ data }) => data) ?? []).toReversed()
  const newest = entries.at(-1)?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: only new messages scroll the view
  useLayoutEffect(() => {
    // In newer browsers, scrollIntoView returns a promise, which must not become the effect's cleanup.
    void end.current?.scrollIntoView({ block: 'end' })
  }, [newest, earlier.isSuccess])
  const first = entries[0]?.createdAt
  const before = (earlier.data?.messages ?? []).filter(
    ({ createdAt }) => !first || createdAt * 1000 < new Date(first).getTime() - 1_000,
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.thread} aria-label="Messages" tabIndex={0}>
      {before.length > 0 && !messages.hasNextPage && (
        <details className={classes.earlier}>
          <summary>What was said to the agent before ({before.length})</summary>
          {before.map((message) => (
            <MessageView key={message.id} message={message}>
              {conversationId && message.role === 'assistant' && !message.metadata?.author && (
                <>
                  <Explanation agentId={agentId} conversationId={conversationId} message={message} />
                  <MakeCase agentId={agentId} conversationId={conversationId} messageId={message.id} />
                </>
              )}
            </MessageView>
          ))}
        </details>
      )}
      {ticket.description && !entries.some(({ contentText }) => contentText === ticket.description) && (
        <Markdown text={ticket.description} />
      )}
      {messages.hasNextPage && (
        <Button small pending={messages.isFetchingNextPage} onClick={() => messages.fetchNextPage()}>
          Show earlier messages
        </Button>
      )}
      <Loaded<unknown> of={messages}>
        {() =>
          entries.map((message) => (
            <Entry key={message.id} agentId={agentId} ticketNumber={ticketNumber} message={message} />
          ))
        }
      </Loaded>
      <div ref={end} />
    </section>
  )
}

const ORIGINAL = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages/{messageId}/original'

type EntryProps = { agentId: string; ticketNumber: number; message: TicketMessage }

function Entry({ agentId, ticketNumber, message }: EntryProps) {
  const { id, type, sender, contentText, content, createdAt, attachments, metadata } = message
  const who = sender?.name ?? sender?.email ?? (sender?.type === 'customer' ? 'Visitor' : 'Parley')
  if (type === 'event') {
    return (
      <p className={classes.event}>
        {contentText ?? content ?? eventWords(metadata)} · <Ago at={createdAt} />
      </p>
    )
  }
  const kind = type === 'note' ? classes.note : sender?.type === 'customer' ? classes.customer : classes.ours
  const { delivery, editedAt, deletedAt, mail, held } = (metadata ?? {}) as {
    held?: Held
    mail?: MailOfMessage
    delivery?: { status: string; error?: string }
    editedAt?: string
    deletedAt?: string
  }
  return (
    <article
      className={`${classes.entry} ${kind}`}
      aria-label={`${type === 'note' ? 'Note' : 'Message'} of ${who}`}
    >
      <header>
        <strong>{who}</strong> <Ago at={createdAt} />
        {type === 'note' && <Badge tone="warning">{held ? 'Held answer' : 'Note'}</Badge>}
        <ChangeMark editedAt={editedAt} deletedAt={deletedAt} />
        <DeliveryMark delivery={delivery} />
        {delivery?.status === 'failed' && (
          <DeliverAgain agentId={agentId} ticketNumber={ticketNumber} messageId={id} />
        )}
      </header>
      {mail && <MailPeople mail={mail} />}
      <Markdown text={contentText ?? content ?? ''} mayLink={held && linksToSources()} />
      {held && (
        <HeldAnswer
          agentId={agentId}
          ticketNumber={ticketNumber}
          noteId={id}
          text={contentText ?? ''}
          held={held}
        />
      )}
      {mail && (
        <div className={classes.buttons}>
          {mail.hasHtml && (
            <OriginalMail reading={reading(ORIGINAL, { params: { agentId, ticketNumber, messageId: id } })} />
          )}
          {type === 'reply' && <Forward agentId={agentId} ticketNumber={ticketNumber} messageId={id} />}
        </div>
      )}
      {attachments.length > 0 && (
        <ul>
          {attachments.map(({ name, url }) => (
            <li key={url}>
              <a href={url}>{name}</a>
            </li>
          ))}
        </ul>
      )}
    </article>
  )
}

function DeliverAgain(params: { agentId: string; ticketNumber: number; messageId: string }) {
  const can = useCan()
  const retry = useMutation({
    mutationFn: () =>
      call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages/{messageId}/retry', {
        params,
      }),
    onSettled: () => refresh(TICKETS),
  })
  if (!can('helpdesk:write')) return null
  return (
    <Button small pending={retry.isPending} onClick={() => retry.mutate()}>
      Send again
    </Button>
  )
}
