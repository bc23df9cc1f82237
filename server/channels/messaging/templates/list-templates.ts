import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import { clientOf } from '../connection/client-of.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import { refreshNumbers } from '../connection/numbers.ts'
import type { ProviderTemplate } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import type { Template, TemplateList } from '../schema.ts'
import { templateAccounts } from './template-accounts.ts'
import { variablesOf } from './template-variables.ts'

/** The time limit for one account, with all pages and retries. */
const MAX_MS = 25_000

/**
 * Returns the approved templates of all business accounts of the agent, and the numbers that can send them. An
 * account that cannot be read after some retries is named beside the templates of the others.
 */
export async function listTemplates(
  ctx: Pick<Context, 'db' | 'secrets' | 'fetcher' | 'log'>,
  agentId: string,
): Promise<Static<typeof TemplateList>> {
  const accounts = await templateAccounts(ctx, agentId)
  const read = await Promise.all(accounts.map((account) => readAccount(ctx, account)))
  const unavailable = accounts.filter((_, index) => !read[index]?.isWhole)
  return {
    templates: read.flatMap(({ templates }) => templates),
    complete: unavailable.length === 0,
    unavailableBusinessAccountIds: unavailable.map(({ businessAccountId }) => businessAccountId),
    senders: accounts.flatMap(({ businessAccountId, numbers }) =>
      (numbers ?? []).map(({ phone, verifiedName }) => ({ from: phone, businessAccountId, verifiedName })),
    ),
  }
}

async function readAccount(
  ctx: Pick<Context, 'db' | 'fetcher' | 'log'>,
  account: MessagingAccount,
): Promise<{ templates: Static<typeof Template>[]; isWhole: boolean }> {
  const { businessAccountId } = account
  const options = { signal: AbortSignal.timeout(MAX_MS), timeoutMs: 10_000 }
  const [templates, numbers] = await Promise.allSettled([
    clientOf(ctx, account, options).templates(businessAccountId),
    refreshNumbers(ctx, account, options),
  ])
  for (const result of [templates, numbers]) {
    if (result.status === 'fulfilled') continue
    if (!(result.reason instanceof ProviderFailure)) throw result.reason
    ctx.log.warn({ err: result.reason, businessAccountId }, 'a business account cannot be read')
  }
  const found = templates.status === 'fulfilled' ? templates.value : []
  return {
    templates: found
      .filter(({ status }) => status === 'APPROVED')
      .map((template) => present(template, businessAccountId)),
    isWhole: templates.status === 'fulfilled' && numbers.status === 'fulfilled',
  }
}

const present = (template: ProviderTemplate, businessAccountId: string): Static<typeof Template> => {
  const { id, name, language, category, status, parameterFormat, components } = template
  const variables = variablesOf(template)
  return { id, name, language, category, status, parameterFormat, businessAccountId, variables, components }
}
