import type { ReactNode } from 'react'
import type { Agent } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import { Badge, Card } from '../ui/page.tsx'
import classes from './deploy.module.css'
import { useSaveAgent } from './use-save-agent.ts'

/** Renders `children` for a public agent. For a private agent, offers to make it public instead. */
export function PublicOnly({ agent, children }: { agent: Agent; children: ReactNode }) {
  const save = useSaveAgent(agent)
  if (agent.visibility === 'public') return <>{children}</>
  return (
    <Card className={classes.notice}>
      <div>
        <h2>
          This agent is <Badge>private</Badge>
        </h2>
        <p>Visitors can chat only with a public agent. It continues to answer from its sources alone.</p>
      </div>
      <Button kind="primary" pending={save.isPending} onClick={() => save.mutate({ visibility: 'public' })}>
        Make it public
      </Button>
    </Card>
  )
}
