import { type UseMutationResult, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Agent, call, type InputOf, type OutputOf, reading } from '../app/api.ts'
import { home } from '../app/base.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { Plus, Trash2 } from '../ui/icons.ts'
import { Card, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Code } from './code.tsx'
import { AGAIN_MS, ConnectionBadge } from './connection-badge.tsx'
import classes from './deploy.module.css'
import { Disconnect } from './disconnect.tsx'
import { Failures, Outcomes } from './outcomes.tsx'
import { Unreadable } from './unreadable.tsx'

const PATH = '/agents/{agentId}/messaging/connection'
type State = OutputOf<'GET', typeof PATH>
type Body = InputOf<'PUT', typeof PATH>['body']
const SECRETS = [
  [
    'accessToken',
    'Access token',
    'Of a system user (Meta business settings, Users, System users), who may manage and message with this account. The token that API Setup shows ends after a day.',
  ],
  ['appSecret', 'App secret', 'In your Meta app: App settings, Basic. It signs what WhatsApp sends here.'],
  [
    'verifyToken',
    'Verify token',
    'Any text that you choose. Enter the same in your Meta app, at the webhook.',
  ],
] as const

const refresh = () => fetchAgain(PATH)

/** Connects WhatsApp Business accounts and tests them. */
export function Messaging({ agent }: { agent: Agent }) {
  const params = { agentId: agent.id }
  const connection = useQuery({ ...reading(PATH, { params }), refetchInterval: AGAIN_MS })
  // The form is reset when an account is connected, but the results of the test remain.
  const test = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', `${PATH}/test`, { params }),
    onSettled: () => fetchAgain(PATH),
  })
  return (
    <Loaded of={connection}>
      {(data) => (
        <div className={classes.parts}>
          <Webhook state={data} />
          <Unreadable agentId={agent.id} />
          <Accounts
            key={data.accounts.map(({ businessAccountId }) => businessAccountId).join()}
            agent={agent}
            state={data}
            test={test}
          />
        </div>
      )}
    </Loaded>
  )
}

const Webhook = ({ state }: { state: State }) => (
  <Section
    title="Webhook"
    about="In your app at developers.facebook.com: WhatsApp, Configuration. Enter this address as the callback URL, with the verify token of the account, and subscribe to the field “messages”."
  >
    <Code label="Address of the webhook" text={`${home}${state.webhookPath}`} />
  </Section>
)

type AccountsProps = {
  agent: Agent
  state: State
  test: UseMutationResult<OutputOf<'POST', `${typeof PATH}/test`>, Error, void>
}

function Accounts({ agent, state, test }: AccountsProps) {
  const params = { agentId: agent.id }
  const can = useCan()
  const mayWrite = can('agents:write')
  const isConnected = state.accounts.length > 0
  const [rows, setRows] = useState(() => state.accounts.map(({ businessAccountId }) => businessAccountId))
  const [added, setAdded] = useState(isConnected ? 0 : 1)
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: async (body: Body) => {
      await call('PUT', PATH, { params, body })
      // The form is replaced before the results appear, so that nothing that is typed in view of them is lost.
      await refresh()
      await test.mutateAsync().catch(() => {})
    },
  })
  const [isLeaving, setIsLeaving] = useState(false)
  const submit = (fields: FormData): void => save.mutate(bodyOf(fields))
  const keys = [...rows, ...Array.from({ length: added }, (_, at) => `new ${at}`)]
  return (
    <Section
      title="WhatsApp Business accounts"
      about="People write to your WhatsApp number, and the agent answers there, through the WhatsApp Business Cloud API of Meta. Each account brings its phone numbers and its templates."
      actions={isConnected && <ConnectionBadge status={state.status} />}
    >
      <Card>
        <Form save={save} onSubmit={submit}>
          {!test.isPending && <Failures of={notedOf(state)} />}
          {keys.map((key) => {
            const known = state.accounts.find(({ businessAccountId }) => businessAccountId === key)
            return (
              <AccountFields
                key={key}
                known={known}
                disabled={!mayWrite}
                onRemove={
                  known && keys.length > 1 ? () => setRows(rows.filter((row) => row !== key)) : undefined
                }
              />
            )
          })}
          <ServerField baseUrl={state.baseUrl} disabled={!mayWrite} />
          <FormActions
            save={save}
            may={mayWrite}
            kind="primary"
            label={isConnected ? 'Save and test' : 'Connect and test'}
          >
            <Button icon={Plus} onClick={() => setAdded(added + 1)}>
              Another account
            </Button>
            {isConnected && (
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
          <Outcomes isRunning={test.isPending} problem={test.error} outcomes={notedOf(state)} />
        </Form>
        {isLeaving && (
          <Disconnect
            path={PATH}
            agentId={agent.id}
            title="Disconnect the accounts?"
            done="Messaging is disconnected. Its conversations stay."
            onDone={test.reset}
            onClose={() => setIsLeaving(false)}
          >
            Messages are no longer received or answered. The secrets are deleted, and have to be entered again
            to reconnect them.
          </Disconnect>
        )}
      </Card>
    </Section>
  )
}

type AccountFieldsProps = {
  /** The connected account; undefined for a new one. */
  known: State['accounts'][number] | undefined
  disabled: boolean
  onRemove: (() => void) | undefined
}

function AccountFields({ known, disabled, onRemove }: AccountFieldsProps) {
  return (
    <fieldset className={classes.account} disabled={disabled}>
      <legend>
        {known ? (known.numbers ?? []).map(numberOf).join(', ') || 'Connected account' : 'New account'}
      </legend>
      <TextField
        label="Business account ID"
        hint={
          known ? undefined : 'In your Meta app: WhatsApp, API Setup. It is not the ID of the phone number.'
        }
        name="businessAccountId"
        defaultValue={known?.businessAccountId}
        readOnly={known !== undefined}
        inputMode="numeric"
        required
      />
      {SECRETS.map(([name, label, hint]) => (
        <TextField
          key={name}
          label={label}
          name={name}
          type={name === 'verifyToken' ? 'text' : 'password'}
          autoComplete="off"
          required={known === undefined}
          hint={known ? 'Leave it empty to keep the one that is stored.' : hint}
        />
      ))}
      {onRemove && (
        <div>
          <Button small kind="quiet" icon={Trash2} onClick={onRemove}>
            Remove account
          </Button>
        </div>
      )}
    </fieldset>
  )
}

function ServerField({ baseUrl, disabled }: { baseUrl: State['baseUrl']; disabled: boolean }) {
  return (
    <details>
      <summary>Another server of the WhatsApp API</summary>
      <TextField
        label="Address"
        name="baseUrl"
        inputMode="url"
        defaultValue={baseUrl ?? ''}
        disabled={disabled}
        hint="Leave it empty for graph.facebook.com. If you change it, you have to enter all secrets again."
      />
    </details>
  )
}

/** The results of the last use of the accounts, as far as there are any. */
const notedOf = ({ accounts }: State) =>
  accounts.flatMap(({ businessAccountId, numbers, lastError, lastCheckedAt }) =>
    lastCheckedAt
      ? [{ name: businessAccountId, error: lastError, detail: (numbers ?? []).map(numberOf).join(', ') }]
      : [],
  )

const numberOf = ({ phone, verifiedName }: { phone: string; verifiedName: string }): string =>
  `${verifiedName} (${phone})`

function bodyOf(form: FormData): Body {
  const baseUrl = String(form.get('baseUrl')).trim()
  const accounts = form.getAll('businessAccountId').map((id, at) => ({
    businessAccountId: String(id).trim(),
    ...Object.fromEntries(
      SECRETS.flatMap(([name]) => {
        const value = String(form.getAll(name)[at] ?? '').trim()
        return value ? [[name, value]] : []
      }),
    ),
  }))
  return { accounts, ...(baseUrl && { baseUrl }) }
}
