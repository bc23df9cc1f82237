import type { Agent } from '../app/api.ts'
import { base, home } from '../app/base.ts'
import { Section } from '../ui/page.tsx'
import { Code } from './code.tsx'
import { PublicOnly } from './public-only.tsx'

export const OwnPage = ({ agent }: { agent: Agent }) => (
  <PublicOnly agent={agent}>
    <Section title="A page of its own" about="Use it for a link in a mail, on a poster, or in a QR code.">
      <Code label="Address of the page" text={`${home}/widget/${agent.id}`} />
      <p>
        <a href={`${base}/widget/${agent.id}`} target="_blank" rel="noreferrer">
          Open the page
        </a>
      </p>
    </Section>
  </PublicOnly>
)
