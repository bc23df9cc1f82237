import { cloudApi } from '../whatsapp/cloud-api.ts'
import type { Adapter } from './adapter.ts'

/** The one messaging channel there is so far. */
export const adapter: Adapter = cloudApi
