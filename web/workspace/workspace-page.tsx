import { useNavigate, useSearch } from '@tanstack/react-router'
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
  const { tab } = useSearch({ strict: false }) as { tab?: string }
  const navigate = useNavigate()
  const { data } = useMe()
  const items = [
    can('members:read') && { id: 'members', label: 'Members', content: <Members /> },
    can('keys:read') && { id: 'keys', label: 'API keys', content: <Keys /> },
    can('account:read') && { id: 'usage', label: 'Plan and usage', content: <Usage /> },
    can('agents:read') && { id: 'models', label: 'Models', content: <Models /> },
    can('audit:read') && { id: 'audit', label: 'Audit log', content: <AuditLog /> },
    can('members:write') && { id: 'general', label: 'Name and data', content: <General /> },
  ].filter((item) => item !== false)
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
