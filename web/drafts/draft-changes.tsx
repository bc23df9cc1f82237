import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { PencilRuler } from '../ui/icons.ts'
import { Section } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { ChangeList } from './change-list.tsx'
import classes from './drafts.module.css'
import { DRAFT } from './use-draft.ts'

/** Compares the draft with the live agent. */
export function DraftChanges({ agentId, isBegun }: { agentId: string; isBegun: boolean }) {
  const compared = useQuery({
    ...reading(`${DRAFT}/changes`, { params: { agentId } }),
    enabled: isBegun,
  })
  if (!isBegun) return <Empty icon={PencilRuler} title="There is no draft to compare" />
  return (
    <Loaded of={compared}>
      {({ changes, changedSince }) => (
        <div className={classes.stack}>
          <Section title="From the live agent to the draft">
            {changes.length === 0 ? (
              <p className={classes.faint}>The draft is like the live agent.</p>
            ) : (
              <ChangeList agentId={agentId} changes={changes} />
            )}
          </Section>
          {changedSince.length > 0 && (
            <Section
              title="Changed in the live agent meanwhile"
              about="Since the draft was begun. What the draft does not change follows the live agent."
            >
              <ChangeList agentId={agentId} changes={changedSince} />
            </Section>
          )}
        </div>
      )}
    </Loaded>
  )
}
