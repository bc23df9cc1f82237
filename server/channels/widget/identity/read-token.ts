import { createHash } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import { ApiError } from '../../../platform/http/errors.ts'

/** The identity that the site's token asserts for its visitor. */
export type SignedVisitor = {
  /** The site's own id: the external id of the contact. */
  userId: string
  name: string | null
  /**
   * The address, if the token says that it is verified; a missing claim means that it is not (OpenID Connect, section
   * 5.1).
   */
  email: string | null
  tokenHash: string
  expiresAt: Date
}

const DAY_SECONDS = 86_400
/** Allows for clock skew between the site and the service. */
const TOLERANCE_SECONDS = 30
const MAX_TOKEN_LENGTH = 4_000

/** User ids that the API accepts, except for the prefix of the ids that the service creates for visitors. */
const USER_ID = /^(?!visitor-)[a-zA-Z0-9._-]{1,128}$/

export const refusedIdentity = (message: string): ApiError =>
  new ApiError('VISITOR_IDENTITY_INVALID', { message })

/**
 * Verifies and reads a JSON Web Token signed with HMAC SHA-256. Throws VISITOR_IDENTITY_INVALID with a message that tells
 * the site's developer what to correct.
 */
export async function readIdentityToken(
  token: string,
  secret: string,
  agentId: string,
): Promise<SignedVisitor> {
  if (token.length > MAX_TOKEN_LENGTH)
    throw refusedIdentity(`The token is longer than ${MAX_TOKEN_LENGTH} characters.`)
  const { sub, exp, aud, name, email, email_verified } = await verified(token, secret)
  if (sub === undefined || !USER_ID.test(sub)) {
    throw refusedIdentity(
      'The claim "sub" must be the id of the user: 1 to 128 letters, digits, dots, underscores and hyphens, not beginning with "visitor-".',
    )
  }
  if (exp === undefined || exp > Date.now() / 1_000 + DAY_SECONDS + TOLERANCE_SECONDS)
    throw refusedIdentity('The claim "exp" must be a time within the next 24 hours.')
  if (aud !== undefined && ![aud].flat().includes(agentId))
    throw refusedIdentity('The claim "aud" names another agent.')
  return {
    userId: sub,
    name: textOf(name, 200),
    email: email_verified === true ? (textOf(email, 254)?.toLowerCase() ?? null) : null,
    tokenHash: createHash('sha256').update(token).digest('base64url'),
    expiresAt: new Date((exp + TOLERANCE_SECONDS) * 1_000),
  }
}

async function verified(token: string, secret: string) {
  try {
    const options = { algorithms: ['HS256'], clockTolerance: TOLERANCE_SECONDS }
    return (await jwtVerify(token, new TextEncoder().encode(secret), options)).payload
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw refusedIdentity('The token has expired. Sign a new one.')
    if (error instanceof errors.JWTClaimValidationFailed)
      throw refusedIdentity(`The claim "${error.claim}" of the token is not valid.`)
    throw refusedIdentity('The token is not signed with the secret of this agent (JWT, HS256).')
  }
}

function textOf(claim: unknown, longest: number): string | null {
  if (typeof claim !== 'string') return null
  const text = claim.replaceAll('\0', '').trim().slice(0, longest).toWellFormed()
  return text === '' ? null : text
}
