import { cloudApi } from '../whatsapp/cloud-api.ts'
import type { Adapter } from './adapter.ts'

/** The adapter of the only messaging provider so far. */
export const adapter: Adapter = cloudApi
