import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Agent } from '../app/api.ts'
import { home } from '../app/base.ts'
import { useCan } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { KeyRound } from '../ui/icons.ts'
import { Card, Section } from '../ui/page.tsx'
import { MakeKey } from '../workspace/make-key.tsx'
import { Code } from './code.tsx'
import classes from './deploy.module.css'

/** Shows a key, and requests that use it with the id of this agent. */
export function Api({ agent }: { agent: Agent }) {
  const base = `${home}/api/v2`
  return (
    <div className={classes.parts}>
      <Key />
      <Section title="Agent ID">
        <Code label="ID of the agent" text={agent.id} />
      </Section>
      <Section title="From a command line">
        <Code
          label="curl"
          text={`curl -N ${base}/agents/${agent.id}/chat \\
  -H "Authorization: Bearer $PARLEY_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"message": "How long is the warranty?", "stream": true}'`}
        />
      </Section>
      <Section title="From your own code" about="Use the folder client/ of the repository on your server.">
        <Code
          label="TypeScript"
          text={`import { createParley } from './client/parley.ts'

const parley = createParley({
  baseUrl: '${base}',
  headers: { authorization: \`Bearer \${process.env.PARLEY_KEY}\` },
})
for await (const { event } of await parley.chat('${agent.id}', { message: 'Hello' })) {
  if (event.type === 'text-delta') process.stdout.write(event.delta)
}`}
        />
        <p>
          <a href={`${home}/reference`} target="_blank" rel="noreferrer">
            Every endpoint
          </a>
        </p>
      </Section>
    </div>
  )
}

function Key() {
  const can = useCan()
  const [isMaking, setIsMaking] = useState(false)
  return (
    <Section title="Key">
      <Card className={classes.notice}>
        <div>
          <p className={classes.lead}>
            A server of yours calls the API with a key, which stands in PARLEY_KEY below.
          </p>
          {can('keys:write') ? (
            <p>
              <Link to="/workspace" search={{ tab: 'keys' }}>
                All keys of the workspace
              </Link>
            </p>
          ) : (
            <p>An owner or admin of the workspace can make one.</p>
          )}
        </div>
        {can('keys:write') && (
          <Button kind="primary" icon={KeyRound} onClick={() => setIsMaking(true)}>
            Make a key
          </Button>
        )}
      </Card>
      {isMaking && <MakeKey onClose={() => setIsMaking(false)} />}
    </Section>
  )
}
