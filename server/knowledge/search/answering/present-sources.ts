import type { Static } from 'typebox'
import type { Config } from '../../../config.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { sourceFileUrl } from '../../sources/serve-source-files.ts'
import type { StoredSource } from './citations.ts'
import type { CitedSource } from './schema.ts'

type Deps = { secrets: Secrets; config: Config }
type Owner = { account_id: AccountId; agent_id: string }

/** Converts the sources of an answer for a reader who may see it. The URLs of files expire. */
export type PresentSources = (owner: Owner, sources: readonly StoredSource[]) => Static<typeof CitedSource>[]

export const presentSourcesOf =
  (ctx: Deps): PresentSources =>
  ({ account_id, agent_id }, sources) =>
    sources.map((source) => {
      const shown = plainSource(source)
      if (!source.isFile) return shown
      const place = { accountId: account_id, agentId: agent_id, sourceId: source.id }
      return { ...shown, url: sourceFileUrl(ctx, place, shown.page) }
    })

/** Answers stored by earlier versions lack the last four fields. */
export const plainSource = ({
  id,
  name,
  url,
  score,
  page = null,
  anchor = null,
  headingPath = [],
  quote = '',
}: StoredSource): Static<typeof CitedSource> => ({ id, name, url, score, page, anchor, headingPath, quote })
