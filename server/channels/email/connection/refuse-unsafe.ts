import { X509Certificate } from 'node:crypto'
import { isPrivateHostAllowed, parsePrivateHosts } from '../../../platform/fetch/guard/private-hosts.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'

/** Such an address is sent secrets of the client or the person, which nobody on the way may read. */
export function refusePlainUrl(
  field: string,
  address: string | undefined,
  allowedPrivateHosts: readonly string[],
): void {
  if (address === undefined) return
  const url = URL.parse(address)
  const isPrivate = url !== null && isPrivateHostAllowed(parsePrivateHosts(allowedPrivateHosts), url)
  if (url?.protocol !== 'https:' && !isPrivate)
    throw invalidField(
      field,
      'Must begin with https://. Only hosts that an operator lists in ALLOWED_PRIVATE_HOSTS may do without.',
    )
}

export function refuseAuthority(authority: string | undefined): void {
  if (authority === undefined) return
  const certificates = authority.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    if (certificates.length === 0) throw new Error('There is none.')
    for (const one of certificates) new X509Certificate(one)
  } catch {
    throw new ApiError('VALIDATION_INVALID_BODY', {
      details: { authority: 'Must be certificates in PEM, each from BEGIN CERTIFICATE to END CERTIFICATE.' },
    })
  }
}
