import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type AgentDraft, call } from '../app/api.ts'
import { Latest } from '../app/latest.tsx'
import { useAgentId, useCan, useMe } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { SettingsFields } from '../playground/settings-fields.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import fields from '../ui/field.module.css'
import { Form, FormActions } from '../ui/field.tsx'
import { plural } from '../ui/format.ts'
import { Lock, Rocket } from '../ui/icons.ts'
import { Badge, Card, Page, Section } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { tell } from '../ui/toast.tsx'
import { AgentVersions } from './agent-versions.tsx'
import { DraftActions, DraftProcedures } from './draft-abilities.tsx'
import { DraftChanges } from './draft-changes.tsx'
import { DraftSources } from './draft-sources.tsx'
import classes from './drafts.module.css'
import { Publish } from './publish.tsx'
import { DRAFT, draftChanged, useDraft, useSaveDraft } from './use-draft.ts'

/** The draft of an agent: what it is to become, how that differs from the live one, and what it was before. */
export function DraftPage() {
  const agentId = useAgentId()
  const can = useCan()
  const navigate = useNavigate()
  const { tab = 'edit' } = useSearch({ strict: false })
  const draft = useDraft(agentId)
  if (useMe().data && !can('agents:write')) {
    return (
      <Page title="Draft">
        <Empty icon={Lock} title="This page is for people who build the agent">
          An owner or admin of the workspace can give you a role that may change agents, under Members.
        </Empty>
      </Page>
    )
  }
  return (
    <Page
      title="Draft"
      about="Change the agent here without customers noticing, try and test it, and publish it when it is better."
      actions={draft.data?.isBegun && <DraftButtons agentId={agentId} />}
    >
      <Loaded of={draft}>
        {(data) => (
          <div className={classes.stack}>
            <DraftState draft={data} />
            <Tabs
              label="Draft"
              chosen={tab}
              onChoose={(id) => void navigate({ to: '.', search: { tab: id }, replace: true })}
              items={[
                { id: 'edit', label: 'Edit', content: <Edit agentId={agentId} draft={data} /> },
                {
                  id: 'changes',
                  label: 'Changes',
                  content: <DraftChanges agentId={agentId} isBegun={data.isBegun} />,
                },
                { id: 'versions', label: 'Versions', content: <AgentVersions agentId={agentId} /> },
              ]}
            />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function DraftState({ draft: { isBegun, begunAt, reading } }: { draft: AgentDraft }) {
  return (
    <div className={classes.state} role="status">
      {isBegun && begunAt ? (
        <>
          <Badge tone="warning">draft</Badge>
          <span>
            Begun <Ago at={begunAt} />
          </span>
        </>
      ) : (
        <>
          <Badge tone="success">live</Badge> There is no draft. What you change here begins one.
        </>
      )}
      {reading.waiting > 0 && <Badge tone="info">{plural(reading.waiting, 'source')} being read</Badge>}
      {reading.failed > 0 && (
        <Badge tone="danger">{plural(reading.failed, 'source')} could not be read</Badge>
      )}
    </div>
  )
}

function DraftButtons({ agentId }: { agentId: string }) {
  const [asking, setAsking] = useState<'publish' | 'discard' | null>(null)
  const close = () => setAsking(null)
  const discard = useMutation({
    mutationFn: () => call('DELETE', DRAFT, { params: { agentId } }),
    onSuccess: () => {
      tell('done', 'The draft is gone. The live agent is as it was.')
      close()
      return draftChanged()
    },
  })
  return (
    <>
      <Button kind="quiet" onClick={() => setAsking('discard')}>
        Discard
      </Button>
      <Link
        to="/agents/$agentId/playground"
        params={{ agentId }}
        search={{ version: 'draft' }}
        className={buttonClass('secondary')}
      >
        Try it
      </Link>
      <Link
        to="/agents/$agentId/evaluations"
        params={{ agentId }}
        search={{ tab: 'answers', version: 'draft' }}
        className={buttonClass('secondary')}
      >
        Test it
      </Link>
      <Button kind="primary" icon={Rocket} onClick={() => setAsking('publish')}>
        Publish
      </Button>
      {asking === 'publish' && <Publish agentId={agentId} onClose={close} />}
      {asking === 'discard' && (
        <Confirm
          title="Discard the draft?"
          action="Discard it"
          pending={discard.isPending}
          onConfirm={() => discard.mutate()}
          onClose={close}
        >
          What is changed in it is lost, also texts that only the draft has. Customers notice nothing.
        </Confirm>
      )}
    </>
  )
}

type EditProps = { agentId: string; draft: AgentDraft }

function Edit({ agentId, draft }: EditProps) {
  const can = useCan()
  return (
    <div className={classes.stack}>
      <Latest of={draft} shows={settingsOf}>
        {(known) => <DraftSettings agentId={agentId} draft={known} />}
      </Latest>
      {can('actions:write') && (
        <>
          <DraftActions agentId={agentId} draft={draft} />
          <DraftProcedures agentId={agentId} draft={draft} />
        </>
      )}
      {can('sources:write') && <DraftSources agentId={agentId} draft={draft} />}
    </div>
  )
}

const settingsOf = ({ instructions, model, temp }: AgentDraft) => ({ instructions, model, temp })

function DraftSettings({ agentId, draft }: EditProps) {
  const saved = settingsOf(draft)
  const [now, setNow] = useState({ ...saved, temp: String(saved.temp) })
  const save = useSaveDraft({ agentId, draft, fieldsOf: settingsOf, bodyOf: (body) => body })
  const change = { ...now, temp: Number(now.temp) }
  const isChanged = JSON.stringify(change) !== JSON.stringify(saved)
  return (
    <Section title="Instructions and model">
      <Form save={save} onSubmit={() => save.mutate(change)}>
        <Card>
          <div className={fields.form}>
            <SettingsFields
              settings={now}
              onChange={(part) => setNow((before) => ({ ...before, ...part }))}
              rows={10}
            />
          </div>
        </Card>
        <FormActions save={save} kind="primary" disabled={!isChanged} label="Save in the draft">
          {isChanged && (
            <Button kind="quiet" onClick={() => setNow({ ...saved, temp: String(saved.temp) })}>
              Discard
            </Button>
          )}
        </FormActions>
      </Form>
    </Section>
  )
}
