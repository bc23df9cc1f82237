import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Agent, reading } from '../app/api.ts'
import { useKept } from '../app/use-kept.ts'
import { SaveCase } from '../evaluations/save-case.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import fields from '../ui/field.module.css'
import { Actions, FormProblem } from '../ui/field.tsx'
import { Plus, X } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { Answer, Composer } from './chat-pane.tsx'
import { Facts } from './inspector.tsx'
import classes from './playground.module.css'
import { draftOf, isSame, type Settings, settingsOf } from './settings.ts'
import { SettingsFields } from './settings-fields.tsx'
import { type ToolCall, type TrialMessage, useChat } from './use-chat.ts'
import { useSaveSettings } from './use-save-settings.ts'

const MAX_COUNT = 3
const NAMES = ['A', 'B', 'C']

/** Asks up to three configurations the same question and shows their answers side by side. */
export function Compare({ agent }: { agent: Agent }) {
  const saved = settingsOf(agent)
  const name = `playground ${agent.id} compare`
  const [all, setAll] = useKept<Settings[]>(
    `${name} settings`,
    () => [saved, saved],
    (now) => now.length !== 2 || now.some((one) => !isSame(one, saved)),
  )
  const [question, setQuestion] = useKept(`${name} asked`, () => '', Boolean)
  const chats = [
    useChat(agent.id, `${name} A`),
    useChat(agent.id, `${name} B`),
    useChat(agent.id, `${name} C`),
  ]
  const ask = (text: string): void => {
    setQuestion(text)
    all.forEach((settings, at) => {
      chats[at]?.reset()
      void chats[at]?.ask(text, draftOf(settings))
    })
  }
  const isRunning = chats.some((chat) => chat.isRunning)
  return (
    <div className={classes.compare}>
      <div className={classes.asked}>
        <Composer
          name={name}
          placeholder="Ask all of them the same question"
          isRunning={isRunning}
          onSend={ask}
          onStop={() => {
            for (const chat of chats) void chat.stop()
          }}
        />
        {question && (
          <p className={classes.soft} dir="auto">
            Asked: {question}
          </p>
        )}
      </div>
      <div className={classes.configurations}>
        {all.map((settings, at) => (
          <Configuration
            // biome-ignore lint/suspicious/noArrayIndexKey: a configuration is named by its place
            key={at}
            name={NAMES[at] ?? ''}
            agent={agent}
            settings={settings}
            question={question}
            answer={chats[at]?.messages.findLast(({ role }) => role === 'assistant')}
            isRunning={chats[at]?.isRunning ?? false}
            onResult={async (answer, call, output) =>
              chats[at]?.giveResult(answer, call, output, draftOf(settings))
            }
            onChange={(part) => setAll(all.map((one, index) => (index === at ? { ...one, ...part } : one)))}
            onRemove={
              all.length > 1 && at === all.length - 1
                ? () => {
                    chats[at]?.reset()
                    setAll(all.slice(0, -1))
                  }
                : undefined
            }
          />
        ))}
        {all.length < MAX_COUNT && (
          <div>
            <Button icon={Plus} onClick={() => setAll([...all, all.at(-1) ?? saved])}>
              Add a configuration
            </Button>
          </div>
        )}
      </div>
    </div>
  )
}

type ConfigurationProps = {
  name: string
  agent: Agent
  settings: Settings
  question: string
  answer: TrialMessage | undefined
  isRunning: boolean
  onResult: (answer: TrialMessage, call: ToolCall, output: unknown) => Promise<void>
  onChange: (part: Partial<Settings>) => void
  onRemove: (() => void) | undefined
}

function Configuration(props: ConfigurationProps) {
  const { name, agent, settings, question, answer, isRunning, onResult, onChange, onRemove } = props
  const [saving, setSaving] = useState(false)
  const save = useSaveSettings(agent, settings)
  const isOver = answer !== undefined && !isRunning
  const isSaved = isSame(settings, settingsOf(agent))
  const messageId = answer?.messageId ?? ''
  const made = useQuery({
    ...reading('/agents/{agentId}/playground/runs/{messageId}', { params: { agentId: agent.id, messageId } }),
    enabled: isOver && messageId !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <section className={classes.configuration} aria-label={`Configuration ${name}`}>
      <header>
        <h2>
          {name} {isSaved ? <Badge>as saved</Badge> : <Badge tone="warning">changed</Badge>}
        </h2>
        {onRemove && <IconButton icon={X} label={`Remove configuration ${name}`} onClick={onRemove} />}
      </header>
      <div className={fields.form}>
        <SettingsFields settings={settings} onChange={onChange} rows={4} />
      </div>
      {answer && (
        <>
          <Answer
            message={answer}
            isRunning={isRunning}
            onResult={(call, output) => onResult(answer, call, output)}
          />
          <Facts message={answer} made={made.data?.data} />
        </>
      )}
      {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
      {isOver && (
        <Actions>
          <Button small onClick={() => setSaving(true)}>
            Save as an evaluation question
          </Button>
          {!isSaved && (
            <Button small pending={save.isPending} onClick={() => save.mutate(settings)}>
              Save {name} to the agent
            </Button>
          )}
        </Actions>
      )}
      {saving && answer && (
        <SaveCase agentId={agent.id} question={question} answer={answer} onClose={() => setSaving(false)} />
      )}
    </section>
  )
}
