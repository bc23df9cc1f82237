import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Agent, call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Form, TextField } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { tell } from '../ui/toast.tsx'

/** Deletes the agent. This cannot be undone, so the user has to type the agent's name. */
export function DeleteAgent({ agent }: { agent: Agent }) {
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => call('DELETE', '/agents/{agentId}', { params: { agentId: agent.id } }),
    onSuccess: () => {
      tell('done', `${agent.name} is deleted.`)
      void fetchAgain('/agents')
      void navigate({ to: '/agents' })
    },
  })
  return (
    <Section
      title="Delete the agent"
      about="Its sources, conversations and tickets are permanently deleted, too."
    >
      <Card>
        <Form onSubmit={() => remove.mutate()}>
          <TextField
            label={`Type ${agent.name} to delete it`}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            autoComplete="off"
          />
          <Actions>
            <Button kind="danger" type="submit" disabled={typed !== agent.name} pending={remove.isPending}>
              Delete for good
            </Button>
          </Actions>
        </Form>
      </Card>
    </Section>
  )
}
