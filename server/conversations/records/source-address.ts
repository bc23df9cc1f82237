import type { Static } from 'typebox'
import type { Config } from '../../config.ts'
import {
  type PresentSources,
  plainSource,
  presentSourcesOf,
} from '../../knowledge/search/answering/citations.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { attachmentUrl, DAY_MS } from '../attachments/serve-attachments.ts'
import type { MessageAttachment } from './schema.ts'

type Deps = { secrets: Secrets; config: Config }
type Owner = { account_id: AccountId; agent_id: string }

/** Creates URLs for what a message refers to, for a reader who may see it. */
export type Addresses = {
  sources: PresentSources
  attachments(owner: Owner, notes: readonly AttachmentNote[]): Static<typeof MessageAttachment>[]
}

export const addressesOf = (ctx: Deps): Addresses => ({
  sources: presentSourcesOf(ctx),
  attachments: ({ account_id, agent_id }, notes) =>
    notes.map(({ id, ...note }) => ({
      ...note,
      url: attachmentUrl(ctx, { accountId: account_id, agentId: agent_id }, id, DAY_MS),
    })),
})

/** For data that is kept longer than a URL is valid. */
export const withoutAddresses: Addresses = {
  sources: (_owner, sources) => sources.map(plainSource),
  attachments: (_owner, notes) => notes.map(({ id: _, ...note }) => ({ ...note, url: null })),
}
