import { Badge } from '../ui/page.tsx'

/** How often a page reads whether a connection still works. */
export const AGAIN_MS = 30_000

const SHOWN = {
  connected: ['success', 'Connected'],
  failing: ['danger', 'Not working'],
  untested: ['neutral', 'Not tested yet'],
} as const

/** Whether a connection worked when the service last used it. */
export function ConnectionBadge({ status }: { status: keyof typeof SHOWN }) {
  const [tone, label] = SHOWN[status]
  return <Badge tone={tone}>{label}</Badge>
}
