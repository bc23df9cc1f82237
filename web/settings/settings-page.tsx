import { useAgent, useAgentId, useCan } from '../app/session.ts'
import { Card, Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Countries } from './countries.tsx'
import { DeleteAgent } from './delete-agent.tsx'
import { General } from './general.tsx'
import { Notifications } from './notifications.tsx'
import { Retention } from './retention.tsx'
import { Spam } from './spam.tsx'
import { WeeklySync } from './weekly-sync.tsx'

/** The settings of an agent, from its name to its deletion. */
export function SettingsPage() {
  const agentId = useAgentId()
  const can = useCan()
  const agent = useAgent(agentId)
  return (
    <Page title="Settings" narrow about="Its name and limits, whom it serves, and what is kept.">
      <Loaded of={agent}>
        {(data) => (
          <>
            <General key={data.id} agent={data} />
            <WeeklySync key={`weekly ${data.id}`} agent={data} />
            <Spam key={`spam ${data.id}`} agent={data} />
            <Countries key={`countries ${data.id}`} agent={data} />
            <Notifications key={`mails ${data.id}`} agent={data} />
            <Section title="How long conversations are kept">
              <Card>
                <Retention agentId={agentId} />
              </Card>
            </Section>
            {can('agents:write') && <DeleteAgent agent={data} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}
