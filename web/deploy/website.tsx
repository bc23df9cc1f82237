import type { Agent } from '../app/api.ts'
import { home } from '../app/base.ts'
import { Latest } from '../app/latest.tsx'
import { Section } from '../ui/page.tsx'
import { AllowedSites } from './allowed-sites.tsx'
import { Code } from './code.tsx'
import classes from './deploy.module.css'
import { Looks } from './looks.tsx'
import { PublicOnly } from './public-only.tsx'

/** Shows how to add the chat to a website: the snippet, the allowed sites and the appearance. */
export function Website({ agent }: { agent: Agent }) {
  return (
    <div className={classes.parts}>
      <PublicOnly agent={agent}>
        <Section title="Snippet" about="Put it before </body> on every page that should have the chat.">
          <Code
            label="The snippet"
            text={`<script src="${home}/widget.js" data-agent="${agent.id}" defer></script>`}
          />
        </Section>
        <Latest of={agent} shows={({ allowedDomains }) => allowedDomains}>
          {(one) => <AllowedSites agent={one} />}
        </Latest>
      </PublicOnly>
      <Latest of={agent} shows={({ styles }) => styles.chat}>
        {(one) => <Looks agent={one} />}
      </Latest>
    </div>
  )
}
