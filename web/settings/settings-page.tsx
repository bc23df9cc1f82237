import type { Agent } from '../app/api.ts'
import { Latest } from '../app/latest.tsx'
import { useAgent, useAgentId, useCan } from '../app/session.ts'
import { Card, Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { AiNotice } from './ai-notice.tsx'
import { Budget } from './budget.tsx'
import { Countries } from './countries.tsx'
import { DeleteAgent } from './delete-agent.tsx'
import { ForbiddenTopics } from './forbidden-topics.tsx'
import { General } from './general.tsx'
import { Notifications } from './notifications.tsx'
import { Retention } from './retention.tsx'
import { Spam } from './spam.tsx'
import { UngroundedAnswers } from './ungrounded-answers.tsx'
import { type SeenGuardrails, useGuardrails } from './use-guardrails.ts'
import { WeeklySync } from './weekly-sync.tsx'

/** What each form shows of the agent. */
const shownBy = {
  general: ({ name, visibility, initialMessages, suggestedMessages, creditLimit, ipRateLimits }: Agent) => [
    name,
    visibility,
    initialMessages,
    suggestedMessages,
    creditLimit,
    ipRateLimits,
  ],
  notice: ({ aiNotice }: Agent) => aiNotice,
  spam: ({ spamSettings }: Agent) => spamSettings,
  countries: ({ blockedCountries }: Agent) => blockedCountries,
  notifications: ({ notificationsSettings }: Agent) => notificationsSettings,
}

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
            <Latest key={data.id} of={data} shows={shownBy.general}>
              {(agent) => <General agent={agent} />}
            </Latest>
            <WeeklySync key={`weekly ${data.id}`} agent={data} />
            <Latest key={`notice ${data.id}`} of={data} shows={shownBy.notice}>
              {(agent) => <AiNotice agent={agent} />}
            </Latest>
            <Latest key={`spam ${data.id}`} of={data} shows={shownBy.spam}>
              {(agent) => <Spam agent={agent} />}
            </Latest>
            <Latest key={`countries ${data.id}`} of={data} shows={shownBy.countries}>
              {(agent) => <Countries agent={agent} />}
            </Latest>
            <Latest key={`mails ${data.id}`} of={data} shows={shownBy.notifications}>
              {(agent) => <Notifications agent={agent} />}
            </Latest>
            <Guards key={`guards ${data.id}`} agentId={agentId} />
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

/** What the agent may spend and say. */
function Guards({ agentId }: { agentId: string }) {
  const guardrails = useGuardrails(agentId)
  return (
    <Loaded of={guardrails} lines={3}>
      {(data: SeenGuardrails) => (
        <>
          <Latest of={data} shows={({ forbiddenTopics }) => forbiddenTopics}>
            {(seen) => <ForbiddenTopics agentId={agentId} seen={seen} />}
          </Latest>
          <Latest of={data} shows={({ ungrounded }) => ungrounded}>
            {(seen) => <UngroundedAnswers agentId={agentId} seen={seen} />}
          </Latest>
          <Latest of={data} shows={({ budget }) => budget}>
            {(seen) => <Budget agentId={agentId} seen={seen} />}
          </Latest>
        </>
      )}
    </Loaded>
  )
}
