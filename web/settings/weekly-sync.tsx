import { type Agent, call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { useSaved } from '../app/use-saved.ts'
import { Check } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { tell } from '../ui/toast.tsx'

/** Enables or disables the weekly check of websites and connected pages. */
export function WeeklySync({ agent }: { agent: Agent }) {
  const can = useCan()
  const set = useMutation({
    scope: { id: `auto-retrain ${agent.id}` },
    mutationFn: (enabled: boolean) =>
      call('PUT', '/agents/{agentId}/auto-retrain', { params: { agentId: agent.id }, body: { enabled } }),
    onSuccess: () => tell('done', 'Saved.'),
    onSettled: () => fetchAgain('/agents/{agentId}'),
  })
  const [isOn, turn] = useSaved(agent.autoRetrain, set.mutateAsync)
  return (
    <Section title="Keeping current">
      <Card>
        <Check
          label="Read websites and connected pages again every week"
          hint="What has changed is trained, and what is gone leaves the answers."
          checked={isOn}
          disabled={!can('agents:write')}
          onChange={({ target }) => turn(target.checked)}
        />
      </Card>
    </Section>
  )
}
