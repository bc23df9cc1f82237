import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reading } from '../app/api.ts'
import { Ago } from '../ui/ago.tsx'
import { plural } from '../ui/format.ts'
import { Quote } from '../ui/icons.ts'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './sources.module.css'

/** Lists the newest answers that cite a source. */
export function Citations({ agentId, sourceId }: { agentId: string; sourceId: string }) {
  const citations = useQuery(
    reading('/agents/{agentId}/sources/{sourceId}/citations', { params: { agentId, sourceId } }),
  )
  return (
    <Loaded of={citations}>
      {({ data, searchedMessages }) =>
        data.length === 0 ? (
          <Empty icon={Quote} title="No answer cites it">
            {plural(searchedMessages, 'message')} looked through, the newest first.
          </Empty>
        ) : (
          <ul className={classes.chunks} aria-label="Answers that cite it">
            {data.map(({ conversationId, messageId, title, quote, createdAt }) => (
              <li key={messageId} className={classes.chunk}>
                <header>
                  <Link
                    to="/agents/$agentId/conversations"
                    params={{ agentId }}
                    search={{ open: conversationId }}
                  >
                    {title ?? 'Untitled'}
                  </Link>
                  <Ago at={createdAt} />
                </header>
                {quote && <blockquote className={classes.quote}>{quote}</blockquote>}
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}
