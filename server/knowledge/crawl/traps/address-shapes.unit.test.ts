import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shapesOf, variantsOf } from './address-shapes.ts'

const shapes = (path: string): string[] => shapesOf(new URL(path, 'https://example.com'))

test('an address has the shape of its path, of its query and of its folders', () => {
  assert.deepEqual(shapes('/shop?size=m&color=red'), ['/shop?color=…&size=…', '/shop?…'])
  assert.deepEqual(shapes('/events/2031/03'), ['/events/…/…', '/events/…/*', '/events/*'])
  assert.deepEqual(shapes('/a/b/c/d/e/f'), ['/a/b/c/d/*', '/a/b/c/*', '/a/b/*', '/a/*'])
  assert.deepEqual(shapes('/list;jsessionid=1F2'), ['/list;…'])
  assert.deepEqual(shapes('/about'), [])
})

test('the variants of an address leave out one value of its query', () => {
  const [sid, page, all] = variantsOf(new URL('https://example.com/a?sid=1&page=2'))
  assert.deepEqual(sid, { keys: ['…?sid=…', '/a?sid=…'], rest: 'https://example.com/a?page=2' })
  assert.equal(page?.rest, 'https://example.com/a?sid=1')
  assert.equal(all?.rest, 'https://example.com/a')
})
