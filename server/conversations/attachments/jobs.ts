import type { Context } from '../../context.ts'
import type { RecurringJob } from '../../platform/jobs/recurring-jobs.ts'
import { sweepAttachments } from './attachments.ts'
import { dropAbandonedUploads } from './uploads.ts'

const HOUR = 3_600_000
/** No process is still using an upload that is older than this. */
const MAX_UPLOAD_MS = HOUR

type Deps = Pick<Context, 'db' | 'embedded' | 'filesDir' | 'uploads'>

export const attachmentRecurringJobs = ({ db, embedded, filesDir, uploads }: Deps): RecurringJob[] => [
  { what: 'files without a message', everyMs: HOUR, run: () => sweepAttachments(db, filesDir) },
  { what: 'abandoned uploads', everyMs: HOUR, run: () => dropAbandonedUploads(db) },
  {
    what: 'broken uploads',
    everyMs: HOUR,
    processes: 'all',
    run: () => uploads.sweep(MAX_UPLOAD_MS),
    // With the embedded database no other process can be using them.
    atStart: () => uploads.sweep(embedded ? 0 : MAX_UPLOAD_MS),
  },
]
