import type { Config } from '../../../config.ts'
import type { MailProvider, MailServer } from '../../../platform/db/tables/channels.ts'

type Server = Omit<MailServer, 'username'>

type Preset = {
  name: string
  authorizationUrl: string
  tokenUrl: string
  /** Where a refresh token is withdrawn (RFC 7009); null if the provider offers no such address. */
  revocationUrl: string | null
  scope: string
  /** What the provider wants besides RFC 6749 to give a refresh token. */
  parameters: Record<string, string>
  imap: Server
  smtp: Server
}

/** As the providers publish it: developers.google.com/workspace/gmail/imap, learn.microsoft.com/exchange (OAuth for IMAP and SMTP). */
export const PRESETS: Record<MailProvider, Preset> = {
  google: {
    name: 'Google',
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    revocationUrl: 'https://oauth2.googleapis.com/revoke',
    scope: 'https://mail.google.com/',
    parameters: { access_type: 'offline', prompt: 'consent' },
    imap: { host: 'imap.gmail.com', port: 993, security: 'tls' },
    smtp: { host: 'smtp.gmail.com', port: 465, security: 'tls' },
  },
  microsoft: {
    name: 'Microsoft',
    authorizationUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    revocationUrl: null,
    scope:
      'offline_access https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send',
    parameters: { prompt: 'select_account' },
    imap: { host: 'outlook.office365.com', port: 993, security: 'tls' },
    smtp: { host: 'smtp.office365.com', port: 587, security: 'starttls' },
  },
}

/** Returns the application that the operator has registered at a provider for all accounts. */
export const operatorsClient = (
  { mailClients }: Pick<Config, 'mailClients'>,
  provider: MailProvider,
): { id: string; secret: string } | null => mailClients[provider] ?? null
