import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ParleyError } from '../../client/parley-error.ts'
import { call, type InputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { CHANNELS } from '../playground/settings.ts'
import { Check, Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { Card } from '../ui/page.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './actions.module.css'
import { InputsEditor } from './inputs-editor.tsx'
import { emptyRequest, type Request, RequestFields, requestOf } from './request-fields.tsx'
import { type Action, type ActionType, hasOwnInputs, TYPES } from './words.ts'

const PATH = '/agents/{agentId}/actions'
type NewAction = InputOf<'POST', typeof PATH>['body']
type Channels = Action['channels']

type ActionFormProps = { agentId: string; action: Action | null }

/** The form of an action; `action` is null for a new one. */
export function ActionForm({ agentId, action }: ActionFormProps) {
  const can = useCan()
  const [type, setType] = useState<ActionType>(action?.type ?? 'http')
  const [name, setName] = useState(action?.name ?? '')
  const [description, setDescription] = useState(action?.description ?? '')
  const [enabled, setEnabled] = useState(action?.enabled ?? true)
  const [channels, setChannels] = useState<Channels>(action?.channels ?? null)
  const [inputs, setInputs] = useState<Record<string, unknown>>(
    action?.inputs ?? { type: 'object', properties: {}, required: [] },
  )
  const [request, setRequest] = useState<Request>(() =>
    action?.http ? requestOf(action.http) : emptyRequest,
  )
  const { save, problemOf } = useSaveAction({ agentId, action })
  return (
    <Form
      save={save}
      more={[inputs, request, channels]}
      onSubmit={() => save.mutate({ name, type, description, enabled, channels, inputs, request })}
    >
      <Card className={classes.stack}>
        <Select
          label="Kind"
          disabled={action !== null}
          hint={TYPES.find(([id]) => id === type)?.[2]}
          options={TYPES.map(([id, label]) => [id, label] as const)}
          value={type}
          onChoose={setType}
        />
        <TextField
          label="Name"
          required
          maxLength={64}
          pattern="[a-zA-Z_][a-zA-Z0-9_\-]*"
          placeholder="look_up_order"
          hint="Letters, digits, _ and -. Procedures mention it by this name."
          error={problemOf('name')}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <TextArea
          label="When to use it"
          required
          rows={3}
          maxLength={2_000}
          placeholder="When somebody asks where their order is."
          error={problemOf('description')}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
        {hasOwnInputs(type) && (
          <InputsEditor inputs={inputs} error={problemOf('inputs')} onChange={setInputs} />
        )}
        {type === 'http' && <RequestFields request={request} problemOf={problemOf} onChange={setRequest} />}
        <ChannelFields channels={channels} onChange={setChannels} />
        <Check
          label="The agent may use it"
          checked={enabled}
          onChange={({ target }) => setEnabled(target.checked)}
        />
        <FormActions
          save={save}
          may={can('actions:write')}
          kind="primary"
          label={action ? 'Save the action' : 'Add the action'}
        />
      </Card>
    </Form>
  )
}

type ChannelFieldsProps = { channels: Channels; onChange: (channels: Channels) => void }

function ChannelFields({ channels, onChange }: ChannelFieldsProps) {
  return (
    <fieldset className={classes.group}>
      <legend>Where</legend>
      <Check
        label="On every channel"
        checked={channels === null}
        onChange={({ target }) => onChange(target.checked ? null : ['chat_widget'])}
      />
      {channels && (
        <div className={classes.columns}>
          {CHANNELS.map(([id, label]) => (
            <Check
              key={id}
              label={label}
              checked={channels.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...channels, id] : channels.filter((one) => one !== id))
              }
            />
          ))}
        </div>
      )}
    </fieldset>
  )
}

type Draft = Pick<NewAction, 'name' | 'type' | 'description' | 'enabled' | 'channels'> & {
  inputs: Record<string, unknown>
  request: Request
}

/** Saves an action; `problemOf` says what the service rejects about a field. */
function useSaveAction({ agentId, action }: ActionFormProps) {
  const navigate = useNavigate()
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (draft: Draft) => {
      const { inputs, request, ...fields } = draft
      const body: NewAction = {
        ...fields,
        ...(hasOwnInputs(fields.type) && { inputs }),
        ...(fields.type === 'http' && { http: httpOf(request) }),
      }
      return action
        ? call('PUT', `${PATH}/{actionId}`, { params: { agentId, actionId: action.id }, body })
        : call('POST', PATH, { params: { agentId }, body })
    },
    onSuccess: ({ id }) => {
      tell('done', 'Saved. The agent can use it from the next answer on.')
      void fetchAgain(PATH, `${PATH}/{actionId}`)
      if (!action)
        void navigate({ to: '/agents/$agentId/actions/$actionId', params: { agentId, actionId: id } })
    },
  })
  const problems: Record<string, string> = save.error instanceof ParleyError ? (save.error.details ?? {}) : {}
  return { save, problemOf: (field: string): string | null => problems[field] ?? null }
}

function httpOf({ headers, ...http }: Request): NonNullable<NewAction['http']> {
  return {
    ...http,
    body: http.body || null,
    // An empty value keeps the stored one.
    headers: Object.fromEntries(
      headers
        .filter((header) => header.name.trim() !== '')
        .map((header) => [header.name.trim(), header.isStored && !header.value ? null : header.value]),
    ),
  }
}
