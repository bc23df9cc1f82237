import { errorOf } from './parley-error.ts'
import { pathOf, type RequestInput, type RequestsOptions } from './requests.ts'

export type Upload = Pick<RequestInput, 'params' | 'headers' | 'signal'> & {
  path: string
  file: File
  fields?: Record<string, string> | undefined
  /** Called with the share of the body that has been sent, from 0 to 1. */
  onProgress?: ((share: number) => void) | undefined
}

/**
 * Uploads one file. It works in browsers only: it uses XMLHttpRequest, because fetch does not report upload progress.
 */
export function uploadFile<T>(
  { baseUrl, headers = {} }: Pick<RequestsOptions, 'baseUrl' | 'headers'>,
  { path, file, fields = {}, onProgress, signal, params, headers: own }: Upload,
): Promise<T> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', file)
  return new Promise<T>((resolve, reject) => {
    const sending = new XMLHttpRequest()
    sending.open('POST', `${baseUrl.replace(/\/+$/, '')}${pathOf(path, { params })}`)
    for (const [name, value] of Object.entries({ ...headers, ...own })) sending.setRequestHeader(name, value)
    sending.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0)
    sending.onerror = () => reject(new TypeError('The file could not be sent.'))
    sending.onabort = () => reject(signal?.reason)
    sending.onload = () => {
      const retryAfter = sending.getResponseHeader('retry-after')
      const answer = new Response(sending.responseText, {
        status: sending.status,
        headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
      })
      if (answer.ok) resolve(JSON.parse(sending.responseText))
      else errorOf(answer).then(reject, reject)
    }
    signal?.addEventListener('abort', () => sending.abort(), { once: true })
    sending.send(form)
  })
}
