import type { FastifyInstance } from 'fastify'

/** Accepts JSON bodies only. An empty body with a JSON type counts as no body, because many clients send that. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // `__proto__` is treated like any other name, which the contract refuses.
  const parse = app.getDefaultJsonParser('ignore', 'ignore')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parse(request, body.toString(), done)
  })
}
