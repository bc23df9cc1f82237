import { call, type OutputOf } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { ListChecks } from '../ui/icons.ts'
import { AnswerCaseDialog } from './answer-case-dialog.tsx'

const PATH = '/agents/{agentId}/answer-cases/from-conversation'
type Proposed = OutputOf<'POST', typeof PATH>

type MakeCaseProps = { agentId: string; conversationId: string; messageId: string }

/** A button that proposes a test case from an answer, and stores it when the member has confirmed its texts. */
export function MakeCase({ agentId, conversationId, messageId }: MakeCaseProps) {
  const can = useCan()
  const propose = useMutation({
    mutationFn: (): Promise<Proposed> =>
      call('POST', PATH, { params: { agentId }, body: { conversationId, messageId } }),
  })
  if (!can('agents:write') || !can('conversations:read')) return null
  return (
    <>
      <Button
        small
        kind="quiet"
        icon={ListChecks}
        pending={propose.isPending}
        onClick={() => propose.mutate()}
      >
        Make a test case
      </Button>
      {propose.data && (
        <AnswerCaseDialog
          agentId={agentId}
          start={propose.data.case}
          proposal={propose.data}
          onClose={propose.reset}
        />
      )}
    </>
  )
}
