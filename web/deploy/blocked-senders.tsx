import { useQuery } from '@tanstack/react-query'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import classes from './deploy.module.css'

const PATH = '/agents/{agentId}/helpdesk/blocked-senders'
const refresh = () => fetchAgain(PATH)

/** Lists the senders whose emails are neither answered nor shown as tickets. */
export function BlockedSenders({ agentId }: { agentId: string }) {
  const can = useCan()
  const params = { agentId }
  const blocked = useQuery({ ...reading(PATH, { params }), enabled: can('helpdesk:read') })
  const block = useMutation({
    meta: { quiet: true },
    mutationFn: (sender: string) => call('POST', PATH, { params, body: { sender } }),
    onSuccess: refresh,
  })
  const submit = (fields: FormData, form: HTMLFormElement): void =>
    block.mutate(String(fields.get('sender') ?? '').trim(), { onSuccess: () => form.reset() })
  if (!can('helpdesk:read')) return null
  return (
    <Section title="Blocked senders" about="Their emails are stored, but nobody answers or sees them.">
      <Card>
        <Loaded of={blocked}>
          {(rows) =>
            rows.length === 0 ? (
              <p>Nobody is blocked.</p>
            ) : (
              <ul className={classes.blocked}>
                {rows.map(({ id, sender, createdAt }) => (
                  <li key={id}>
                    <bdi>{sender}</bdi> <Ago at={createdAt} />
                    {can('helpdesk:write') && (
                      <Unblock params={{ ...params, blockedSenderId: id }} sender={sender} />
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        {can('helpdesk:write') && (
          <Form save={block} onSubmit={submit}>
            <TextField
              label="Address or domain"
              name="sender"
              placeholder="ann@example.com or example.com"
              autoCapitalize="none"
              spellCheck={false}
              required
            />
            <FormActions save={block} label="Block the sender" />
          </Form>
        )}
      </Card>
    </Section>
  )
}

type UnblockProps = { params: { agentId: string; blockedSenderId: string }; sender: string }

function Unblock({ params, sender }: UnblockProps) {
  const unblock = useMutation({
    mutationFn: () => call('DELETE', `${PATH}/{blockedSenderId}`, { params }),
    onSettled: refresh,
  })
  return (
    <Button
      small
      pending={unblock.isPending}
      onClick={() => unblock.mutate()}
      aria-label={`Unblock ${sender}`}
    >
      Unblock
    </Button>
  )
}
