import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CHANNEL_NAMES } from '../../server/agents/settings/channel-names.ts'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { MakeCase } from '../evaluations/make-case.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { ArrowLeft, CircleCheck, Hand, Pause, Pencil, Play, Undo2 } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './conversations.module.css'
import { Correction } from './correction.tsx'
import { Explanation } from './explanation.tsx'
import { MessageView } from './message-view.tsx'
import { OriginalMail } from './original-mail.tsx'
import { readingConversation } from './read-conversation.ts'
import { STATUS_TONES } from './status-tones.ts'
import { VisitorName } from './visitor-name.tsx'

const LIVE_MS = 4_000
const MAILS = '/agents/{agentId}/conversations/{conversationId}/mails'
const ORIGINAL = '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/original'

type ConversationProps = { agentId: string; conversationId: string; onBack?: () => void }

/** Shows one conversation and the actions available on it. */
export function Conversation({ agentId, conversationId, onBack }: ConversationProps) {
  const params = { agentId, conversationId }
  const can = useCan()
  const [correcting, setCorrecting] = useState<string | null>(null)
  const conversation = useQuery({
    ...readingConversation(agentId, conversationId),
    refetchInterval: ({ state }) => (state.data?.status === 'ended' ? false : LIVE_MS),
  })
  const mails = useQuery({
    ...reading(MAILS, { params }),
    // A new message may be a mail.
    queryKey: [MAILS, params, conversation.data?.messages.length],
    enabled: conversation.data?.source === CHANNEL_NAMES.email.source,
    placeholderData: keepPreviousData,
  })
  const mailOf = (messageId: string) => mails.data?.find((mail) => mail.messageId === messageId)
  const insights = useQuery(reading('/agents/{agentId}/conversations/{conversationId}/insights', { params }))
  return (
    <Loaded of={conversation} lines={8}>
      {({ title, status, messages, createdAt, userId }) => (
        <>
          <header className={classes.readerHead}>
            {onBack && (
              <span className={classes.back}>
                <IconButton icon={ArrowLeft} label="Back to the list" onClick={onBack} />
              </span>
            )}
            <div className={classes.readerTitle}>
              <h2 dir="auto">{title ?? 'Untitled'}</h2>
              <p>
                <Badge tone={STATUS_TONES[status][0]}>{STATUS_TONES[status][1]}</Badge> <Ago at={createdAt} />
                {userId && (
                  <>
                    {' · '}
                    <VisitorName agentId={agentId} userId={userId} />
                  </>
                )}
                {insights.data?.sentiment && ` · ${insights.data.sentiment}`}
                {insights.data?.topics.map(({ name }) => ` · ${name}`)}
              </p>
            </div>
            <Moves {...params} status={status} />
          </header>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
          <section className={classes.messages} aria-label="Messages" tabIndex={0}>
            {messages.map((message) => (
              <MessageView key={message.id} message={message} mail={mailOf(message.id)}>
                {mailOf(message.id)?.hasHtml && (
                  <OriginalMail
                    reading={reading(ORIGINAL, { params: { ...params, messageId: message.id } })}
                  />
                )}
                {message.role === 'assistant' && !message.metadata?.author && (
                  <>
                    {can('sources:write') && (
                      <Button small kind="quiet" icon={Pencil} onClick={() => setCorrecting(message.id)}>
                        Correct
                      </Button>
                    )}
                    <Explanation {...params} message={message} />
                    <MakeCase {...params} messageId={message.id} />
                  </>
                )}
              </MessageView>
            ))}
          </section>
          {correcting && (
            <Correction
              {...params}
              messageId={correcting}
              messages={messages}
              onClose={() => setCorrecting(null)}
            />
          )}
        </>
      )}
    </Loaded>
  )
}

type MovesProps = { agentId: string; conversationId: string; status: keyof typeof STATUS_TONES }

function Moves({ agentId, conversationId, status }: MovesProps) {
  const params = { agentId, conversationId }
  const can = useCan()
  const member = useMember()
  const options = (done: string) => ({
    onSuccess: () => tell('done', done),
    onSettled: () => {
      void fetchAgain(
        '/agents/{agentId}/conversations/{conversationId}',
        '/agents/{agentId}/conversations/search',
      )
    },
  })
  const takeOver = useMutation({
    mutationFn: () =>
      call('POST', '/agents/{agentId}/conversations/{conversationId}/takeover', {
        params,
        body: member ? { memberId: member.id } : {},
      }),
    ...options('You have it now. Reply in the inbox.'),
  })
  const handBack = useMutation({
    mutationFn: () => call('POST', '/agents/{agentId}/conversations/{conversationId}/handback', { params }),
    ...options('The agent answers again.'),
  })
  const end = useMutation({
    mutationFn: () => call('POST', '/agents/{agentId}/conversations/{conversationId}/end', { params }),
    ...options('The conversation has ended.'),
  })
  const pause = useMutation({
    mutationFn: (paused: boolean) =>
      call('PATCH', '/agents/{agentId}/conversations/{conversationId}', { params, body: { paused } }),
    ...options('Done.'),
  })
  const ticket = takeOver.data?.data.ticketNumber
  if (status === 'ended') return null
  return (
    <div className={classes.moves}>
      {can('helpdesk:write') && status === 'ongoing' && (
        <Button small icon={Hand} pending={takeOver.isPending} onClick={() => takeOver.mutate()}>
          Take over
        </Button>
      )}
      {status === 'taken_over' && (
        <>
          <Link
            className={classes.inboxLink}
            to="/agents/$agentId/inbox"
            params={{ agentId }}
            search={{ ticket: ticket === undefined ? undefined : String(ticket), view: 'open' }}
          >
            Reply in the inbox
          </Link>
          {can('helpdesk:write') && (
            <Button small icon={Undo2} pending={handBack.isPending} onClick={() => handBack.mutate()}>
              Hand back
            </Button>
          )}
        </>
      )}
      {can('conversations:write') && status === 'ongoing' && (
        <Button small kind="quiet" icon={Pause} pending={pause.isPending} onClick={() => pause.mutate(true)}>
          Pause
        </Button>
      )}
      {can('conversations:write') && status === 'paused' && (
        <Button small icon={Play} pending={pause.isPending} onClick={() => pause.mutate(false)}>
          Resume
        </Button>
      )}
      {can('helpdesk:write') && (
        <Button small kind="quiet" icon={CircleCheck} pending={end.isPending} onClick={() => end.mutate()}>
          End
        </Button>
      )}
    </div>
  )
}
