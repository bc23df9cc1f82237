import { ApiError } from '../../../platform/http/errors.ts'
import type { ProviderClient, ProviderTemplate } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import { sendFailed } from '../outbound/send-errors.ts'

/**
 * Returns the approved template of this name and language, as the provider has it now. Throws
 * TEMPLATE_LANGUAGE_REQUIRED, TEMPLATE_NOT_FOUND, TEMPLATE_NOT_APPROVED, and MESSAGING_SEND_FAILED when the provider
 * does not return it.
 */
export async function chooseTemplate(
  client: ProviderClient,
  businessAccountId: string,
  { name, language }: { name: string; language?: string },
): Promise<ProviderTemplate> {
  const found = await client.templates(businessAccountId, name).catch((error: unknown) => {
    throw error instanceof ProviderFailure ? sendFailed(error) : error
  })
  const named = found.filter((template) => template.name === name)
  const spoken = language === undefined ? named : named.filter((template) => template.language === language)
  const languages = (of: ProviderTemplate[]): string => of.map((template) => template.language).join(', ')
  const [first] = spoken
  if (!first) {
    throw new ApiError('TEMPLATE_NOT_FOUND', {
      ...(named.length > 0
        ? { message: `The template exists in these languages only: ${languages(named)}.` }
        : {}),
    })
  }
  const approved = spoken.filter(({ status }) => status === 'APPROVED')
  if (approved.length > 1) {
    throw new ApiError('TEMPLATE_LANGUAGE_REQUIRED', {
      message: `The template exists in several languages: say which one of ${languages(approved)}.`,
    })
  }
  const [template] = approved
  if (!template) throw new ApiError('TEMPLATE_NOT_APPROVED', { details: { status: first.status } })
  return template
}
