import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { formatBytes } from '../ui/format.ts'
import { Download } from '../ui/icons.ts'
import { Bar, Card } from '../ui/page.tsx'
import classes from './workspace.module.css'

const PATH = '/models/local'
const AGAIN_MS = 1_000

type Local = OutputOf<'GET', typeof PATH>

/** Returns the state of the models that this installation runs itself, which is asked for again while one is fetched. */
const useLocalModels = () =>
  useQuery({
    ...reading(PATH),
    refetchInterval: ({ state }) => (state.data?.fetching ? AGAIN_MS : false),
  })

/**
 * Offers the owner of the installation the embedding model that it can run itself, shows how far it is, and tells
 * others who can get it. Shows nothing when there is an embedding model.
 */
export function LocalModel() {
  const { data } = useLocalModels()
  const inUse = data?.inUse ?? null
  const before = useRef(inUse)
  useEffect(() => {
    // Other parts of the page say what documents are searched by.
    if (before.current !== inUse) void fetchAgain('/models')
    before.current = inUse
  }, [inUse])
  if (!data || data.isConfigured || (data.inUse !== null && data.fetching === null)) return null
  if (!data.mayFetch)
    return (
      <p>
        An embedding model would also find what says the same in other words or in another language. Whoever
        runs this installation gets one for this machine with <code>npm run parley -- models get</code>
      </p>
    )
  return <Offer {...data} />
}

function Offer({ models: [model], fetching, problem }: Local) {
  const begin = useMutation({
    mutationFn: () => call('POST', PATH, { body: {} }),
    onSettled: () => fetchAgain(PATH),
  })
  if (!model) return null
  return (
    <Card className={classes.stack}>
      <div>
        <h2>Search by meaning, runs on this machine</h2>
        <p>
          Finds passages that say the same in other words and in other languages, with {model.name}. No key,
          and no text leaves this machine.
        </p>
      </div>
      {fetching ? (
        <div className={classes.stack}>
          <Bar
            share={fetching.total === 0 ? 0 : fetching.done / fetching.total}
            label="What has been fetched"
          />
          <p className={classes.faint} role="status">
            {wordsOf(fetching)}
          </p>
        </div>
      ) : (
        <>
          {problem && (
            <p role="alert" className={classes.problem}>
              {problem}
            </p>
          )}
          <p className={classes.faint}>
            Downloads {formatBytes(model.downloadBytes)}, takes {formatBytes(model.diskBytes)} of disk, and up
            to {formatBytes(model.memoryBytes)} of memory while it runs.
          </p>
          <div>
            <Button icon={Download} pending={begin.isPending} onClick={() => begin.mutate()}>
              {problem ? 'Try again' : 'Download and use it'}
            </Button>
          </div>
        </>
      )}
    </Card>
  )
}

/** The text changes seldom enough to be read aloud. */
function wordsOf({ step, done, total }: NonNullable<Local['fetching']>): string {
  if (step === 'runtime') return 'Step 2 of 3: what runs the model is installed. This takes about a minute.'
  if (step === 'trying') return 'Step 3 of 3: the model is tried.'
  return total === 0
    ? 'Step 1 of 3: the model is fetched.'
    : `Step 1 of 3: the model is fetched, ${Math.floor((10 * done) / total) * 10} % of ${formatBytes(total)}. You can leave this page.`
}
