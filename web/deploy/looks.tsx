import { useState } from 'react'
import { type Agent, call } from '../app/api.ts'
import { saveVersion } from '../app/conflicts.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Check, Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { Section } from '../ui/page.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './deploy.module.css'
import { Preview } from './preview.tsx'

const THEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['auto', 'Same as the visitor’s system'],
] as const
const SIDES = [
  ['right', 'Right'],
  ['left', 'Left'],
] as const
const COLORS = [
  ['headerColor', 'Header'],
  ['userMessageColor', 'Visitor’s messages'],
  ['buttonColor', 'Button'],
] as const
const SWITCHES = [
  ['showFeedback', 'Answers can be rated'],
  ['showCopyButton', 'Answers can be copied'],
  ['showAttachments', 'Visitors can send files'],
  ['showDictation', 'Visitors can dictate'],
] as const

type Chat = Agent['styles']['chat']

/** The settings of the chat's appearance, next to a live preview of the chat. */
export function Looks({ agent }: { agent: Agent }) {
  const saved = agent.styles.chat
  const [draft, setDraft] = useState<Chat>(saved)
  const set = <K extends keyof Chat>(name: K, value: Chat[K]) =>
    setDraft((now) => ({ ...now, [name]: value }))
  const changed = (Object.keys(draft) as (keyof Chat)[]).filter(
    (name) => JSON.stringify(draft[name]) !== JSON.stringify(saved[name]),
  )
  const save = useSaveLooks(agent)
  return (
    <Section title="Looks">
      <div className={classes.looks}>
        <Form
          save={save}
          onSubmit={() => save.mutate(Object.fromEntries(changed.map((name) => [name, draft[name]])))}
        >
          <ChatFields agent={agent} draft={draft} set={set} />
          <FormActions save={save} kind="primary" disabled={changed.length === 0} label="Save the looks">
            {changed.length > 0 && (
              <Button kind="quiet" onClick={() => setDraft(saved)}>
                Discard
              </Button>
            )}
            <span className={classes.changed} role="status">
              {changed.length > 0 && 'The preview shows changes that are not saved yet.'}
            </span>
          </FormActions>
        </Form>
        {agent.visibility === 'public' ? (
          <Preview agentId={agent.id} chat={draft} />
        ) : (
          <p className={classes.hidden}>The preview shows when the agent is public.</p>
        )}
      </div>
    </Section>
  )
}

type ChatFieldsProps = {
  agent: Agent
  draft: Chat
  set: <K extends keyof Chat>(name: K, value: Chat[K]) => void
}

function ChatFields({ agent, draft, set }: ChatFieldsProps) {
  return (
    <>
      <TextField
        label="Name in the chat"
        value={draft.displayName}
        placeholder={agent.name}
        onChange={({ target }) => set('displayName', target.value)}
      />
      <TextField
        label="Placeholder of the message field"
        value={draft.messagePlaceholder}
        onChange={({ target }) => set('messagePlaceholder', target.value)}
      />
      <TextField
        label="Line below the message field"
        value={draft.footer}
        onChange={({ target }) => set('footer', target.value)}
      />
      <TextArea
        label="Notice above the messages"
        rows={2}
        maxLength={500}
        value={draft.dismissableNotice}
        onChange={({ target }) => set('dismissableNotice', target.value)}
        hint="Visitors can dismiss it. Leave it empty for none."
      />
      <TextField
        label="Open by itself after so many seconds"
        type="number"
        min={0}
        max={3600}
        value={draft.autoOpenChatWindowAfter ?? ''}
        onChange={({ target }) =>
          set('autoOpenChatWindowAfter', target.value === '' ? null : Number(target.value))
        }
        hint="Leave it empty to wait until a visitor opens it."
      />
      <div className={classes.pair}>
        <Select
          label="Theme"
          options={THEMES}
          value={draft.theme}
          onChoose={(value) => set('theme', value)}
        />
        <Select
          label="Button position"
          options={SIDES}
          value={draft.alignChatButton}
          onChoose={(value) => set('alignChatButton', value)}
        />
      </div>
      <div className={classes.colors}>
        {COLORS.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            type="color"
            value={/^#[\da-f]{6}$/i.test(draft[name]) ? draft[name] : '#ffffff'}
            onChange={({ target }) => set(name, target.value)}
          />
        ))}
      </div>
      <div>
        {SWITCHES.map(([name, label]) => (
          <Check
            key={name}
            label={label}
            checked={draft[name]}
            onChange={({ target }) => set(name, target.checked)}
          />
        ))}
      </div>
    </>
  )
}

function useSaveLooks(agent: Agent) {
  return useMutation({
    meta: { quiet: true },
    mutationFn: (change: Partial<Chat>) =>
      saveVersion({
        base: agent,
        fieldsOf: ({ styles }) => styles.chat,
        change,
        send: (chat: Partial<Chat>, headers) =>
          call('PUT', '/agents/{agentId}/styles', {
            params: { agentId: agent.id },
            body: { styles: { chat } },
            headers,
          }),
      }),
    onSuccess: (whose) => {
      tell(
        'done',
        whose === 'mine'
          ? 'Visitors see it within a minute.'
          : 'Nothing was saved: you see the looks in use.',
      )
      return fetchAgain('/agents/{agentId}')
    },
  })
}
