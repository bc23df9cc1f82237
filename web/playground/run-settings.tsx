import { useQuery } from '@tanstack/react-query'
import { type Agent, reading } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import fields from '../ui/field.module.css'
import { Actions, FormProblem, Select } from '../ui/field.tsx'
import { Badge } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import classes from './playground.module.css'
import { CHANNELS, isSame, type Settings, settingsOf } from './settings.ts'
import { SettingsFields } from './settings-fields.tsx'
import type { Draft } from './use-chat.ts'
import { useSaveSettings } from './use-save-settings.ts'

export type TrialContext = Pick<Draft, 'channel' | 'contactId'>

type RunSettingsProps = {
  agent: Agent
  settings: Settings
  place: TrialContext
  onSettings: (settings: Settings) => void
  onPlace: (place: TrialContext) => void
}

/** The settings of the next answer. They are a draft until they are saved to the agent. */
export function RunSettings({ agent, settings, place, onSettings, onPlace }: RunSettingsProps) {
  const saved = settingsOf(agent)
  const isDraft = !isSame(settings, saved)
  const save = useSaveSettings(agent, settings)
  const contacts = useQuery(
    reading('/agents/{agentId}/contacts', { params: { agentId: agent.id }, query: { limit: 50 } }),
  )
  return (
    <details className={classes.settings} open={isDraft || undefined}>
      <summary>
        Settings of the run {isDraft && <Badge tone="warning">draft</Badge>}
        <small>
          {CHANNELS.find(([id]) => id === place.channel)?.[1]} · model {settings.model} · temperature{' '}
          {settings.temp}
        </small>
      </summary>
      <div className={fields.form}>
        <div className={classes.pair}>
          <Select
            label="Channel"
            options={CHANNELS}
            value={place.channel ?? 'chat_widget'}
            onChoose={(chosen) => onPlace({ ...place, channel: CHANNELS.find(([id]) => id === chosen)?.[0] })}
          />
          <Select
            label="Asked by"
            options={[
              ['', 'Nobody in particular'],
              ...(contacts.data?.data ?? []).map(
                ({ id, name, email, externalId }) => [id, name ?? email ?? externalId] as const,
              ),
            ]}
            value={place.contactId ?? ''}
            onChoose={(chosen) => onPlace({ ...place, contactId: chosen || undefined })}
          />
        </div>
        <SettingsFields
          settings={settings}
          onChange={(part) => onSettings({ ...settings, ...part })}
          rows={6}
        />
        {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
        {isDraft && (
          <Actions>
            <Button kind="primary" small pending={save.isPending} onClick={() => save.mutate(settings)}>
              Save to the agent
            </Button>
            <Button kind="quiet" small onClick={() => onSettings(saved)}>
              Discard the draft
            </Button>
          </Actions>
        )}
      </div>
    </details>
  )
}
