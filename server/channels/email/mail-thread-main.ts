import { parentPort, workerData } from 'node:worker_threads'
import { readMail } from './read-mail.ts'

const { raw, cut } = workerData as { raw: Uint8Array; cut: { bytes: number } | null }
parentPort?.postMessage(await readMail(raw, cut))
