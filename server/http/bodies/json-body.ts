import type { FastifyInstance } from 'fastify'

/** Takes JSON bodies and nothing else; an empty one with a JSON type is no body, as many clients send it. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // `__proto__` is a name like any other, which the contract of the endpoint knows or does not.
  const parse = app.getDefaultJsonParser('ignore', 'ignore')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parse(request, body as string, done)
  })
}
