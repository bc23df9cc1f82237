import type { Cited } from '../app/api.ts'
import { ExternalLink, FileText } from '../ui/icons.ts'
import classes from './playground.module.css'

type SourceListProps = { sources: Cited[]; open: number | null; onOpen: (number: number | null) => void }

/** Lists the sources that an answer cites. Each expands to show the quoted passage. */
export const SourceList = ({ sources, open, onOpen }: SourceListProps) => (
  <ol className={classes.sources} aria-label="Sources">
    {sources.map((source, at) => {
      const number = at + 1
      const isOpen = open === number
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: the index is the number that the answer cites
        <li key={at}>
          <button
            type="button"
            className={classes.source}
            aria-expanded={isOpen}
            onClick={() => onOpen(isOpen ? null : number)}
          >
            <span className={classes.place}>{number}</span>
            <FileText size={14} aria-hidden />
            <span className={classes.sourceName}>{source.name ?? source.url ?? 'Untitled'}</span>
            {source.page !== null && <small>p. {source.page}</small>}
          </button>
          {isOpen && (
            <blockquote className={classes.quote}>
              {source.headingPath.length > 0 && <small>{source.headingPath.join(' › ')}</small>}
              {source.quote}
              {source.url && (
                <a href={source.url} target="_blank" rel="noopener noreferrer">
                  Open the source <ExternalLink size={12} aria-hidden />
                </a>
              )}
            </blockquote>
          )}
        </li>
      )
    })}
  </ol>
)
