import type { Selectable } from 'kysely'
import type { MessagingAccountsTable } from '../../../platform/db/tables/channels.ts'
import { whatsAppAdapter } from '../whatsapp/whatsapp-adapter.ts'
import type { ProviderAdapter } from './provider-adapter.ts'

/** Returns the adapter of a business account. There is only one messaging provider so far. */
export const chooseAdapter = (_account: Selectable<MessagingAccountsTable>): ProviderAdapter =>
  whatsAppAdapter
