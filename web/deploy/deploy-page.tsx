import { useNavigate, useSearch } from '@tanstack/react-router'
import { deployTabs } from '../app/navigation.ts'
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
  const { tab } = useSearch({ strict: false })
  const navigate = useNavigate()
  return (
    <Page title="Deploy" about="Choose where people can reach the agent.">
      <Loaded of={agent}>
        {(data) => {
          const content = {
            widget: <Website key={data.id} agent={data} />,
            page: <OwnPage agent={data} />,
            api: <Api agent={data} />,
            messaging: <Messaging key={data.id} agent={data} />,
            mail: <Mail key={data.id} agent={data} />,
          }
          const items = deployTabs
            .filter(({ scope }) => can(scope))
            .map(({ id, label }) => ({ id, label, content: content[id] }))
          return (
            <Tabs
              label="Ways to deploy"
              items={items}
              chosen={items.some(({ id }) => id === tab) ? tab : 'widget'}
              onChoose={(id) => void navigate({ to: '.', search: { tab: id }, replace: true })}
            />
          )
        }}
      </Loaded>
    </Page>
  )
}
