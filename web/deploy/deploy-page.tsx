import { useNavigate, useSearch } from '@tanstack/react-router'
import { useAgent, useAgentId, useCan } from '../app/session.ts'
import { Page } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Api } from './api.tsx'
import { Mail } from './mail.tsx'
import { Messaging } from './messaging.tsx'
import { OwnPage } from './own-page.tsx'
import { Website } from './website.tsx'

/** The page for deploying an agent: website widget, a page of its own, API, messaging and mail. */
export function DeployPage() {
  const agentId = useAgentId()
  const can = useCan()
  const agent = useAgent(agentId)
  const { tab } = useSearch({ strict: false }) as { tab?: string }
  const navigate = useNavigate()
  return (
    <Page title="Deploy" about="Choose where people can reach the agent.">
      <Loaded of={agent}>
        {(data) => {
          const items = [
            { id: 'widget', label: 'Website', content: <Website key={data.id} agent={data} /> },
            { id: 'page', label: 'Page', content: <OwnPage agent={data} /> },
            { id: 'api', label: 'API', content: <Api agent={data} /> },
            can('messaging:read') && {
              id: 'messaging',
              label: 'Messaging',
              content: <Messaging key={data.id} agent={data} />,
            },
            can('messaging:read') && {
              id: 'mail',
              label: 'Mail',
              content: <Mail key={data.id} agent={data} />,
            },
          ].filter((item) => item !== false)
          return (
            <Tabs
              label="Ways to deploy"
              items={items}
              chosen={items.some(({ id }) => id === tab) ? tab : 'widget'}
              onChoose={(id) => void navigate({ to: '.', search: { tab: id } as never, replace: true })}
            />
          )
        }}
      </Loaded>
    </Page>
  )
}
