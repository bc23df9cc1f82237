import { useNavigate, useSearch } from '@tanstack/react-router'
import { workspaceTabs } from '../app/navigation.ts'
import { useCan, useMe } from '../app/session.ts'
import { Page } from '../ui/page.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { AuditLog } from './audit-log.tsx'
import { General } from './general.tsx'
import { Keys } from './keys.tsx'
import { Members } from './members.tsx'
import { Models } from './models.tsx'
import { Usage } from './usage.tsx'

/** The settings of the workspace: members, API keys, plan and usage, models, and the audit log. */
export function WorkspacePage() {
  const can = useCan()
  const { tab } = useSearch({ strict: false })
  const navigate = useNavigate()
  const { data } = useMe()
  const content = {
    members: <Members />,
    keys: <Keys />,
    usage: <Usage />,
    models: <Models />,
    audit: <AuditLog />,
    general: <General />,
  }
  const items = workspaceTabs
    .filter(({ scope }) => can(scope))
    .map(({ id, label }) => ({ id, label, content: content[id] }))
  return (
    <Page
      title={data?.account.name ?? 'Workspace'}
      about="Members, keys, what it costs, and who changed what."
    >
      <Tabs
        label="Workspace"
        items={items}
        chosen={items.some(({ id }) => id === tab) ? tab : items[0]?.id}
        onChoose={(id) => void navigate({ to: '/workspace', search: { tab: id }, replace: true })}
      />
    </Page>
  )
}
