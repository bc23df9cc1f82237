import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
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

const VERSIONS = [
  ['live', 'Live agent'],
  ['draft', 'Draft'],
] as const

type RunSettingsProps = {
  agent: Agent
  settings: Settings
  place: TrialContext
  version: 'live' | 'draft'
  onSettings: (settings: Settings) => void
  onVersion: (version: 'live' | 'draft') => void
  onPlace: (place: TrialContext) => void
}

/** The settings of the next answer: those of the live agent, which can be changed for the run, or those of its draft. */
export function RunSettings(props: RunSettingsProps) {
  const { agent, settings, place, version, onSettings, onVersion, onPlace } = props
  const saved = settingsOf(agent)
  const isOfDraft = version === 'draft'
  const isChanged = !isOfDraft && !isSame(settings, saved)
  const save = useSaveSettings(agent, settings)
  const contacts = useQuery(
    reading('/agents/{agentId}/contacts', { params: { agentId: agent.id }, query: { limit: 50 } }),
  )
  return (
    <details className={classes.settings} open={isChanged || undefined}>
      <summary>
        Settings of the run {isOfDraft && <Badge tone="warning">draft</Badge>}
        {isChanged && <Badge tone="warning">not saved</Badge>}
        <small>
          {CHANNELS.find(([id]) => id === place.channel)?.[1]}
          {!isOfDraft && ` · model ${settings.model} · temperature ${settings.temp}`}
        </small>
      </summary>
      <div className={fields.form}>
        <div className={classes.pair}>
          <Select label="Version" options={VERSIONS} value={version} onChoose={onVersion} />
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
        {isOfDraft ? (
          <p>
            <Link to="/agents/$agentId/draft" params={{ agentId: agent.id }}>
              Change the draft
            </Link>
          </p>
        ) : (
          <SettingsFields
            settings={settings}
            onChange={(part) => onSettings({ ...settings, ...part })}
            rows={6}
          />
        )}
        {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
        {isChanged && (
          <Actions>
            <Button kind="primary" small pending={save.isPending} onClick={() => save.mutate(settings)}>
              Save to the agent
            </Button>
            <Button kind="quiet" small onClick={() => onSettings(saved)}>
              Discard the changes
            </Button>
          </Actions>
        )}
      </div>
    </details>
  )
}
