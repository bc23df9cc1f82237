import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Agent, call, type InputOf, type OutputOf, reading } from '../app/api.ts'
import { home } from '../app/base.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Check, Form, FormActions, FormProblem, Select, TextArea, TextField } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { BlockedSenders } from './blocked-senders.tsx'
import { Code } from './code.tsx'
import { AGAIN_MS, ConnectionBadge } from './connection-badge.tsx'
import classes from './deploy.module.css'
import { Disconnect } from './disconnect.tsx'
import { MailDomain } from './mail-domain.tsx'
import {
  beginAtProvider,
  MailOauth,
  oauthOf,
  PROVIDER_NAMES,
  type SignIn,
  signInOf,
  wantedOauth,
} from './mail-oauth.tsx'
import { MailServer, serverOf } from './mail-server.tsx'
import { Failures, Outcomes } from './outcomes.tsx'
import { Signature } from './signature.tsx'
import { SilentMails } from './silent-mails.tsx'

const PATH = '/agents/{agentId}/email/connection'
type Body = InputOf<'PUT', typeof PATH>['body']
type Wanted = InputOf<'POST', '/agents/{agentId}/email/oauth'>['body']
type Mailbox = OutputOf<'GET', typeof PATH>

const MODES = [
  ['agent', 'The agent answers'],
  ['tickets', 'They become tickets for the team'],
] as const

const refresh = () => fetchAgain(PATH)

/** Connects the mailbox of an agent and tests it. */
export function Mail({ agent }: { agent: Agent }) {
  const params = { agentId: agent.id }
  const mailbox = useQuery({
    queryKey: [PATH, { params }],
    // The connection is only requested if there is one, because the browser would log an error response as an error of
    // the page.
    queryFn: async ({ signal }): Promise<Mailbox | null> => {
      const { email } = await call('GET', '/agents/{agentId}/channels', { params })
      return email && reading(PATH, { params }).queryFn({ signal })
    },
    refetchInterval: AGAIN_MS,
  })
  return <Loaded of={mailbox}>{(data) => <Connection agent={agent} mailbox={data} />}</Loaded>
}

/** The test of the connection, and what saves the form or leads to the provider. */
function useConnect(agent: Agent, mailbox: Mailbox | null) {
  const params = { agentId: agent.id }
  const test = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', `${PATH}/test`, { params }),
    onSettled: refresh,
  })
  const save = useMutation({
    meta: { quiet: true },
    /** Saves the form, or returns the page of the provider that the browser has to visit. */
    mutationFn: async ({ fields, isAway }: { fields: FormData; isAway: boolean }): Promise<string | null> => {
      if (isAway) return beginAtProvider(agent.id, wantedOf(fields))
      await call('PUT', PATH, { params, body: bodyOf(fields, mailbox) })
      // The form is replaced before the results appear, so that nothing that is typed in view of them is lost.
      await refresh()
      return null
    },
    onSuccess: (page) => (page === null ? test.mutate() : undefined),
  })
  // Now the form counts as saved, so that the browser does not ask whether to leave.
  useEffect(() => {
    if (save.data) location.assign(save.data)
  }, [save.data])
  return { test, save }
}

function Connection({ agent, mailbox }: { agent: Agent; mailbox: Mailbox | null }) {
  const mayWrite = useCan()('agents:write')
  const { test, save } = useConnect(agent, mailbox)
  const [signIn, setSignIn] = useState(() => signInOf(mailbox?.oauth))
  const isStored = mailbox !== null && signInOf(mailbox.oauth) === signIn
  const isAway = signIn !== 'password' && !isStored
  const [isLeaving, setIsLeaving] = useState(false)
  const submit = (fields: FormData): void =>
    save.mutate({ fields, isAway: isAway && !fields.get('oauth.refreshToken') })
  const again = (form: HTMLFormElement | null): void => {
    if (form?.reportValidity()) save.mutate({ fields: new FormData(form), isAway: true })
  }
  return (
    <div className={classes.parts}>
      <Section
        title="Mailbox"
        about="Emails to this address are answered like questions in the chat. Emails that are already in the mailbox are ignored."
        actions={mailbox && <ConnectionBadge status={mailbox.status} />}
      >
        <Card>
          {/* The form is reset when a mailbox is connected or disconnected, but not when it is tested. */}
          <Form save={save} key={mailbox ? 'connected' : 'new'} onSubmit={submit}>
            {!test.isPending && <Failures of={notedOf(mailbox)} />}
            <MailboxFields
              agent={agent}
              mailbox={mailbox}
              disabled={!mayWrite}
              signIn={signIn}
              onChoose={setSignIn}
            />
            <FormActions
              save={save}
              may={mayWrite}
              kind="primary"
              pending={save.isPending || test.isPending}
              label={labelOf(signIn, mailbox)}
            >
              {signIn !== 'password' && isStored && (
                <Button pending={save.isPending} onClick={({ currentTarget }) => again(currentTarget.form)}>
                  Connect again with {PROVIDER_NAMES[signIn]}
                </Button>
              )}
              {mailbox && (
                <>
                  <Button pending={test.isPending} onClick={() => test.mutate()}>
                    Test again
                  </Button>
                  <Button kind="danger" onClick={() => setIsLeaving(true)}>
                    Disconnect
                  </Button>
                </>
              )}
            </FormActions>
            <Outcomes isRunning={test.isPending} problem={test.error} outcomes={notedOf(mailbox)} />
          </Form>
          {isLeaving && (
            <Disconnect
              path={PATH}
              agentId={agent.id}
              title="Disconnect the mailbox?"
              done="The mailbox is disconnected. Its conversations stay."
              onDone={test.reset}
              onClose={() => setIsLeaving(false)}
            >
              Emails are no longer received or answered. The passwords are deleted, and have to be entered
              again to reconnect it.
            </Disconnect>
          )}
        </Card>
      </Section>
      {mailbox && <MailDomain agentId={agent.id} />}
      {mailbox && <Signature agentId={agent.id} />}
      {mailbox && <SilentMails agentId={agent.id} />}
      {mailbox && <BlockedSenders agentId={agent.id} />}
      {mailbox && (
        <Section
          title="Without IMAP"
          about="A mail server can post each email to this address instead, signed with a secret of the API."
        >
          <Code label="Address for emails" text={`${home}/webhooks/email/${agent.id}`} />
        </Section>
      )}
    </div>
  )
}

function labelOf(signIn: SignIn, mailbox: Mailbox | null): string {
  if (mailbox && signInOf(mailbox.oauth) === signIn) return 'Save and test'
  if (signIn !== 'password') return `Connect with ${PROVIDER_NAMES[signIn]}`
  return mailbox ? 'Save and test' : 'Connect and test'
}

type MailboxFieldsProps = {
  agent: Agent
  mailbox: Mailbox | null
  disabled: boolean
  signIn: SignIn
  onChoose: (signIn: SignIn) => void
}

function MailboxFields({ agent, mailbox, disabled, signIn, onChoose }: MailboxFieldsProps) {
  const isStored = mailbox !== null && signInOf(mailbox.oauth) === signIn
  // Those of the large providers are known.
  const hasServers = isStored || signIn === 'password' || signIn === 'other'
  return (
    <fieldset className={classes.account} disabled={disabled}>
      <legend className="visually-hidden">Mailbox</legend>
      <TextField
        label="Address"
        name="address"
        type="email"
        placeholder="support@example.com"
        defaultValue={mailbox?.address}
        required
      />
      <TextField
        label="Name of the sender"
        name="fromName"
        placeholder={agent.name}
        maxLength={100}
        defaultValue={mailbox?.fromName ?? ''}
      />
      <Select label="Incoming email" name="mode" options={MODES} defaultValue={mailbox?.mode ?? 'agent'} />
      <MailOauth agentId={agent.id} oauth={mailbox?.oauth ?? null} signIn={signIn} onChoose={onChoose} />
      {hasServers && (
        <div className={classes.servers}>
          <MailServer kind="imap" title="Receiving (IMAP)" server={mailbox?.imap ?? null} />
          <MailServer kind="smtp" title="Sending (SMTP)" server={mailbox?.smtp ?? null} />
        </div>
      )}
      <Check
        name="plusAddressing"
        label="Mailbox supports plus addressing"
        hint="Parley then uses such an address to match a reply to its conversation. Most large providers support this."
        defaultChecked={mailbox?.plusAddressing ?? false}
      />
      <Check
        name="keepsSent"
        label="Keep sent emails in the mailbox"
        hint="Answers of the agent and of your team are put into its folder for sent emails. This needs IMAP."
        defaultChecked={mailbox?.keepsSent ?? false}
      />
      {mailbox?.sentError && (
        <FormProblem>The last email could not be put into its folder. {mailbox.sentError}</FormProblem>
      )}
      <TextArea
        label="Certificate of your own authority"
        name="authority"
        rows={3}
        placeholder="-----BEGIN CERTIFICATE-----"
        defaultValue={mailbox?.authority ?? ''}
        hint="Only if the servers have a certificate that no public authority has signed."
        spellCheck={false}
      />
    </fieldset>
  )
}

/** The results of the last use of the servers, if there are any. */
const notedOf = (mailbox: Mailbox | null) =>
  (
    [
      ['Receiving', mailbox?.imap],
      ['Sending', mailbox?.smtp],
    ] as const
  ).flatMap(([name, server]) => (server?.lastCheckedAt ? [{ name, error: server.lastError }] : []))

/** What the form says besides the servers and the sign-in. */
function settingsOf(form: FormData) {
  const fromName = String(form.get('fromName')).trim()
  const authority = String(form.get('authority') ?? '').trim()
  return {
    address: String(form.get('address')).trim(),
    ...(fromName && { fromName }),
    mode: form.get('mode') === 'tickets' ? ('tickets' as const) : ('agent' as const),
    plusAddressing: form.get('plusAddressing') !== null,
    keepsSent: form.get('keepsSent') !== null,
    ...(authority && { authority }),
  }
}

function serversOf(form: FormData) {
  const imap = serverOf(form, 'imap')
  const folder = String(form.get('imap.mailbox') ?? '').trim()
  return {
    smtp: serverOf(form, 'smtp'),
    ...(imap.host && { imap: { ...imap, ...(folder && { mailbox: folder }) } }),
  }
}

function bodyOf(form: FormData, mailbox: Mailbox | null): Body {
  const oauth = form.get('signIn') === 'password' ? {} : { oauth: oauthOf(form, mailbox?.oauth) }
  return { ...settingsOf(form), ...serversOf(form), ...oauth }
}

/** What is wanted of a provider: the large ones need no servers. */
function wantedOf(form: FormData): Wanted {
  const provider = form.get('signIn') as Wanted['provider']
  const servers = provider === 'other' ? serversOf(form) : {}
  return { provider, connection: { ...settingsOf(form), ...servers, oauth: wantedOauth(form) } }
}
