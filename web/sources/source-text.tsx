import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { FileText } from '../ui/icons.ts'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './sources.module.css'

/** Shows the complete extracted text of a source. */
export function SourceText({ agentId, sourceId }: { agentId: string; sourceId: string }) {
  const text = useQuery(
    reading('/agents/{agentId}/sources/{sourceId}/text', { params: { agentId, sourceId } }),
  )
  return (
    <Loaded of={text} lines={8}>
      {({ text: whole, isWhole }) =>
        whole === '' ? (
          <Empty icon={FileText} title="No text is live">
            It stands here as soon as the source is trained.
          </Empty>
        ) : (
          <>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
            <section className={classes.text} aria-label="Text of the source" tabIndex={0} dir="auto">
              {whole}
            </section>
            {!isWhole && <p className={classes.faint}>The text continues. Its passages hold all of it.</p>}
          </>
        )
      }
    </Loaded>
  )
}
