import Type from 'typebox'
import { Exact, endpointsOf, IsoTime, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import { roles } from '../keys/roles.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './passwords/password-limits.ts'

const endpoint = endpointsOf('Sign-in')
/**
 * The body limit in bytes, far more than any of these endpoints needs. A password of a megabyte is refused before it
 * is hashed.
 */
const bodyLimit = 8_192
const COUNTED = 'Attempts are limited; beyond the limit, the response is 429.'
const GUESSES =
  'Wrong passwords are limited to five in 15 minutes for a login and a network address, and to a hundred a day for a login. A browser in which the login has signed in before is recognised by a cookie and has its own limit of ten in 15 minutes, whatever others guess.'

const Token = Type.String({ minLength: 1, maxLength: 200, description: 'The part of the link after #' })
const Email = Type.String({ format: 'email', maxLength: 254 })
const Name = Type.String({ minLength: 1, maxLength: 100 })
const NewPassword = Type.String({ minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH })
const Password = Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH })
const Code = Type.String({ minLength: 1, maxLength: 50 })

export const readSignIn = endpoint({
  method: 'GET',
  path: '/sign-in',
  name: 'readSignIn',
  summary: 'Read how members can sign in',
  description: 'Returns what a sign-in page needs to know before a member is signed in.',
  scope: null,
  success: {
    status: 200,
    schema: Exact({
      needsSetUp: Type.Boolean({
        description:
          'Nobody has an account yet; the first start of the service, or `setup-link`, prints the link',
      }),
      provider: Nullable(
        Exact(
          { name: Type.String() },
          { description: 'The OpenID Connect provider with which members can also sign in' },
        ),
      ),
      mailsResets: Type.Boolean({ description: 'Whether a forgotten password can be reset by mail' }),
      passwordLength: Exact({ minimum: Type.Integer(), maximum: Type.Integer() }),
    }),
  },
})

export const setUp = endpoint({
  method: 'POST',
  path: '/set-up',
  name: 'setUp',
  summary: 'Become the first owner of an account',
  description: `Needs the token of a set-up link, which works once, for 24 hours. ${COUNTED}`,
  scope: null,
  bodyLimit,
  body: Exact({
    token: Token,
    name: Name,
    email: Email,
    password: NewPassword,
    accountName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'The name of the account' }),
    ),
  }),
  success: { status: 201, schema: Success },
  errors: ['AUTH_LINK_INVALID', 'RESOURCE_DUPLICATE', 'MEMBER_LIMIT_REACHED'],
})

export const signIn = endpoint({
  method: 'POST',
  path: '/sign-in',
  name: 'signIn',
  summary: 'Sign in with a password',
  description: `Sets the cookie of a session, which ends after 14 days. If the member has a second factor, the cookie only permits \`/sign-in/second-factor\`. A browser must send the header \`x-parley-session: 1\`. An unknown address and a wrong password get the same response. ${GUESSES} ${COUNTED}`,
  scope: null,
  bodyLimit,
  body: Exact({ email: Email, password: Password }),
  success: {
    status: 200,
    schema: Exact({
      secondFactor: Type.Boolean({ description: 'Whether a code is required before the session begins' }),
    }),
  },
  errors: ['AUTH_SIGN_IN_FAILED'],
})

export const signInSecondFactor = endpoint({
  method: 'POST',
  path: '/sign-in/second-factor',
  name: 'signInSecondFactor',
  summary: 'Complete a sign-in with the code of the second factor',
  description: `Accepts six digits of the authenticator, which work once, or one of the backup codes. After five wrong codes, the sign-in has to be started again; after ten, codes are refused for 15 minutes. ${COUNTED}`,
  scope: null,
  bodyLimit,
  body: Exact({ code: Code }),
  success: { status: 200, schema: Success },
  errors: ['AUTH_SIGN_IN_FAILED'],
})

export const signInProvider = endpoint({
  method: 'POST',
  path: '/sign-in/provider',
  name: 'signInProvider',
  summary: 'Start a sign-in with OpenID Connect',
  description:
    'Returns the address to send the browser to; the browser returns signed in. Only a member whose login has the same, verified address can sign in, and from then on only with the same issuer and subject.',
  scope: null,
  bodyLimit,
  success: { status: 200, schema: Exact({ url: Type.String() }) },
  errors: ['RESOURCE_NOT_FOUND', 'AUTH_SIGN_IN_FAILED'],
})

export const requestPasswordReset = endpoint({
  method: 'POST',
  path: '/password-resets',
  name: 'requestPasswordReset',
  summary: 'Request a mail with a link for a new password',
  description: `The response is the same whether or not the address is known. Nothing is sent unless the operator has set SMTP_URL and PUBLIC_URL; \`member reset-link\` creates the link without mail. ${COUNTED}`,
  scope: null,
  bodyLimit,
  body: Exact({ email: Email }),
  success: { status: 202, schema: Success },
})

export const acceptPasswordReset = endpoint({
  method: 'POST',
  path: '/password-resets/accept',
  name: 'acceptPasswordReset',
  summary: 'Set a new password',
  description: `Needs the token of a reset link, which works once, for an hour. All sessions of the member end; a second factor is kept. ${COUNTED}`,
  scope: null,
  bodyLimit,
  body: Exact({ token: Token, password: NewPassword }),
  success: { status: 200, schema: Success },
  errors: ['AUTH_LINK_INVALID', 'RESOURCE_DUPLICATE', 'MEMBER_LIMIT_REACHED'],
})

export const lookAtInvitation = endpoint({
  method: 'POST',
  path: '/invitations/look',
  name: 'lookAtInvitation',
  summary: 'Read an invitation by its token',
  description: `The invitation is not accepted by this request. ${COUNTED}`,
  scope: null,
  bodyLimit,
  body: Exact({ token: Token }),
  success: {
    status: 200,
    schema: Exact({
      accountName: Type.String(),
      email: Type.String(),
      name: Nullable(Type.String()),
      role: OneOf(roles),
      expiresAt: IsoTime,
    }),
  },
  errors: ['AUTH_LINK_INVALID'],
})

export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/invitations/accept',
  name: 'acceptInvitation',
  summary: 'Accept an invitation',
  description: `Creates the member that the invitation describes; the body cannot change the role. Sign in afterwards. ${COUNTED}`,
  scope: null,
  bodyLimit,
  body: Exact({ token: Token, name: Name, password: NewPassword }),
  success: { status: 201, schema: Success },
  errors: ['AUTH_LINK_INVALID', 'RESOURCE_DUPLICATE', 'MEMBER_LIMIT_REACHED'],
})

const ofSession = { scope: 'account:read', onlySessions: true, limitedMembers: 'all' } as const

export const signOut = endpoint({
  ...ofSession,
  method: 'POST',
  path: '/sign-out',
  name: 'signOut',
  summary: 'End the session of this request',
  success: { status: 200, schema: Success },
})

export const listSessions = endpoint({
  ...ofSession,
  method: 'GET',
  path: '/sessions',
  name: 'listSessions',
  summary: 'List where you are signed in',
  description: 'The newest first.',
  success: {
    status: 200,
    schema: Type.Array(
      Exact({
        id: Type.String(),
        isCurrent: Type.Boolean({ description: 'The session of this request' }),
        address: Nullable(Type.String()),
        userAgent: Nullable(Type.String()),
        createdAt: IsoTime,
        expiresAt: IsoTime,
      }),
    ),
  },
})

export const endOneSession = endpoint({
  ...ofSession,
  method: 'DELETE',
  path: '/sessions/{sessionId}',
  name: 'endSession',
  summary: 'End one of your sessions',
  description: 'Every process refuses it within a second.',
  params: Exact({ sessionId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Success },
})

export const endOtherSessions = endpoint({
  ...ofSession,
  method: 'DELETE',
  path: '/sessions',
  name: 'endOtherSessions',
  summary: 'End all of your sessions except this one',
  success: { status: 200, schema: Success },
})

export const changePassword = endpoint({
  ...ofSession,
  method: 'PUT',
  path: '/password',
  name: 'changePassword',
  summary: 'Change your password',
  description: `Your other sessions end. ${COUNTED}`,
  bodyLimit,
  body: Exact({ currentPassword: Password, newPassword: NewPassword }),
  success: { status: 200, schema: Success },
  errors: ['AUTH_SIGN_IN_FAILED'],
})

export const beginSecondFactor = endpoint({
  ...ofSession,
  method: 'POST',
  path: '/second-factor',
  name: 'beginSecondFactor',
  summary: 'Set up a second factor',
  description: `Returns the URI for an authenticator app and backup codes. The second factor is not required until a code was sent to \`/second-factor/confirm\`. ${COUNTED}`,
  bodyLimit,
  shownOnce: ['uri', 'backupCodes'],
  body: Exact({ password: Password }),
  success: {
    status: 200,
    schema: Exact({
      uri: Nullable(Type.String({ description: 'otpauth://…, to be shown as a QR code' })),
      backupCodes: Nullable(Type.Array(Type.String(), { description: 'Each works once' })),
    }),
  },
  errors: ['AUTH_SIGN_IN_FAILED', 'RESOURCE_DUPLICATE'],
})

export const confirmSecondFactor = endpoint({
  ...ofSession,
  method: 'POST',
  path: '/second-factor/confirm',
  name: 'confirmSecondFactor',
  summary: 'Enable the second factor',
  description: `Needs a code of the authenticator. The session gets a new cookie. ${COUNTED}`,
  bodyLimit,
  body: Exact({ code: Code }),
  success: { status: 200, schema: Success },
  errors: ['AUTH_SIGN_IN_FAILED'],
})

export const removeSecondFactor = endpoint({
  ...ofSession,
  method: 'DELETE',
  path: '/second-factor',
  name: 'removeSecondFactor',
  summary: 'Remove the second factor',
  description: `Needs the password. The session gets a new cookie. ${COUNTED}`,
  bodyLimit,
  body: Exact({ password: Password }),
  success: { status: 200, schema: Success },
  errors: ['AUTH_SIGN_IN_FAILED'],
})
