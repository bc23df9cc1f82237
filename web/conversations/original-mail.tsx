import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { OutputOf } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import { Loaded } from '../ui/state.tsx'
import classes from './mail.module.css'

type Original = OutputOf<
  'GET',
  '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/original'
>

/** Shows a mail as its sender made it, in a frame in which nothing runs. `reading` asks for its addresses. */
export function OriginalMail({ reading }: { reading: UseQueryOptions<Original> }) {
  const [isOpen, setIsOpen] = useState(false)
  const [withImages, setWithImages] = useState(false)
  const frame = useId()
  const original = useQuery({
    ...reading,
    enabled: isOpen,
    // The addresses expire.
    staleTime: 30 * 60_000,
    refetchOnWindowFocus: false,
  })
  return (
    <div className={classes.original}>
      <Button small aria-expanded={isOpen} aria-controls={frame} onClick={() => setIsOpen(!isOpen)}>
        {isOpen ? 'Hide the original' : 'Show the original'}
      </Button>
      <div id={frame} hidden={!isOpen}>
        {isOpen && (
          <Loaded of={original}>
            {({ url, urlWithImages, hasRemoteImages }) => (
              <>
                {hasRemoteImages && !withImages && (
                  <p>
                    Pictures of other servers are blocked, because they tell the sender who reads.{' '}
                    <Button small onClick={() => setWithImages(true)}>
                      Show images
                    </Button>
                  </p>
                )}
                <iframe
                  title="Original email"
                  sandbox="allow-popups allow-popups-to-escape-sandbox"
                  referrerPolicy="no-referrer"
                  src={withImages ? urlWithImages : url}
                />
              </>
            )}
          </Loaded>
        )}
      </div>
    </div>
  )
}
