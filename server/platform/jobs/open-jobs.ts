import { setTimeout as wait } from 'node:timers/promises'
import { ALWAYS_THERE, type Availability } from '../db/connections/availability.ts'
import type { Db } from '../db/database.ts'
import { localNotifier, type Notifier } from '../db/notifier.ts'
import { type DiskSpace, ROOM_ENOUGH } from '../db/upkeep/disk-space.ts'
import type { ServiceProcess } from '../db/upkeep/processes.ts'
import { hasFormerQueue, takeOverFormerJobs } from './former-jobs.ts'
import { insertJob, nextDue } from './job-rows.ts'
import type { Jobs } from './jobs.ts'
import { createWorker, type Worker } from './worker.ts'

/** How often the rows themselves are checked, to find jobs of dead processes and jobs whose notification was lost. */
const POLL_MS = 5_000
/** How long a job may take to notice that the process ends. */
const ABORT_MS = 1_000

type Options = {
  db: Db
  process: Pick<ServiceProcess, 'id' | 'epoch' | 'onLost' | 'onDeath'>
  onError: (error: unknown) => void
  availability?: Availability
  space?: DiskSpace
  notifier?: Notifier
  /** Called after each job, which may have left work for others. */
  onDone?: () => void
}

/** Opens the queue of jobs. A notification wakes the workers of a task; see POLL_MS for those that get lost. */
export function openJobs({
  db,
  process,
  onError,
  availability = ALWAYS_THERE,
  space = ROOM_ENOUGH,
  notifier = localNotifier(),
  onDone = () => {},
}: Options): Jobs {
  let workers: Worker[] = []
  let rests = false
  let hasFormer = false
  const mustWait = (): boolean => rests || space.isFull() || availability.isDown()
  const onQueueError = (error: unknown): void => {
    if (!availability.isDown()) onError(error)
  }
  const wakeAll = (): void => {
    for (const worker of workers) worker.wake()
  }
  const wake = (task: string, afterMs: number): void => {
    if (afterMs <= POLL_MS) workers.find(({ name }) => name === task)?.wake(afterMs)
  }
  const look = async (): Promise<void> => {
    if (mustWait() || workers.length === 0) return
    if (hasFormer) await takeOverFormerJobs(db)
    const names = workers.filter(({ hasRoom }) => hasRoom()).map(({ name }) => name)
    const running = workers.flatMap((worker) => worker.running())
    const found = await nextDue(db, names, { id: process.id, epoch: process.epoch, running })
    for (const { task, afterMs } of found) wake(task, afterMs)
  }
  const poll = setInterval(() => void look().catch(onQueueError), POLL_MS)
  poll.unref()
  const forget = [
    notifier.on('job', (notice) => {
      const [task = '', seconds = '0'] = notice.split('/')
      wake(task, Number(seconds) * 1_000)
    }),
    notifier.onGap(wakeAll),
    availability.onChange((isDown) => {
      if (!isDown) wakeAll()
    }),
  ]
  process.onDeath(wakeAll)
  process.onLost(() => {
    for (const worker of workers) worker.abort(new Error('Another process may run this job.'))
  })
  return {
    async enqueue(trx, task, payload, afterSeconds = 0, account = null) {
      await insertJob(trx, task, payload, afterSeconds, account)
      await notifier.publish(trx, 'job', `${task}/${afterSeconds}`)
    },
    async work(tasks) {
      const deps = { db, process, mustWait, onError, onQueueError, onDone }
      workers = tasks.map((task) => createWorker(deps, task))
      hasFormer = await hasFormerQueue(db)
      await look()
    },
    rest() {
      rests = true
    },
    async close(ms = 20_000) {
      rests = true
      clearInterval(poll)
      for (const stop of forget) stop()
      const idle = () => Promise.all(workers.map((worker) => worker.idle()))
      await Promise.race([idle(), wait(ms, undefined, { ref: false })])
      for (const worker of workers) {
        worker.close()
        worker.abort(new Error('This process ends.'))
      }
      // Most of them end at once. The rest are free as soon as the process is gone.
      await Promise.race([idle(), wait(ABORT_MS, undefined, { ref: false })])
    },
  }
}
