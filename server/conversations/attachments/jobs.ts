import type { Context } from '../../context.ts'
import type { Duty } from '../../platform/jobs/duties.ts'
import { sweepAttachments } from './attachments.ts'
import { dropAbandonedUploads } from './uploads.ts'

const HOUR = 3_600_000
/** No process is still using an upload that is older than this. */
const LONGEST_UPLOAD_MS = HOUR

type Needs = Pick<Context, 'db' | 'embedded' | 'filesDir' | 'uploads'>

export const attachmentDuties = ({ db, embedded, filesDir, uploads }: Needs): Duty[] => [
  { what: 'files without a message', everyMs: HOUR, run: () => sweepAttachments(db, filesDir) },
  { what: 'abandoned uploads', everyMs: HOUR, run: () => dropAbandonedUploads(db) },
  {
    what: 'broken uploads',
    everyMs: HOUR,
    processes: 'all',
    run: () => uploads.sweep(LONGEST_UPLOAD_MS),
    // With the embedded database no other process can be using them.
    atStart: () => uploads.sweep(embedded ? 0 : LONGEST_UPLOAD_MS),
  },
]
