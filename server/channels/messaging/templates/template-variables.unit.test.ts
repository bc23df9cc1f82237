import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../platform/http/errors.ts'
import type { ProviderTemplate } from '../connection/provider-adapter.ts'
import { checkVariables, renderTemplate, variablesOf } from './template-variables.ts'

const template = (...components: ProviderTemplate['components']): ProviderTemplate => ({
  id: '1',
  name: 'n',
  language: 'en',
  category: 'UTILITY',
  status: 'APPROVED',
  parameterFormat: 'POSITIONAL',
  components,
})

const order = template(
  { type: 'HEADER', format: 'TEXT', text: 'Hi {{1}}' },
  { type: 'BODY', text: 'Your {{2}} of {{1}}, again {{2}}' },
  { type: 'FOOTER', text: 'Shop' },
)

function refusal(work: () => unknown): [string, Record<string, string> | undefined] {
  try {
    work()
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.details]
  }
  throw new Error('It was not refused.')
}

test('variables are listed in order, each once', () => {
  assert.deepEqual(variablesOf(order), { header: ['1'], body: ['1', '2'] })
  const many = template({ type: 'BODY', text: '{{10}} {{2}} {{1}}' })
  assert.deepEqual(variablesOf(many).body, ['1', '2', '10'])
  assert.deepEqual(variablesOf(template({ type: 'BODY', text: '{{name}} {{ city }}' })).body, [
    'name',
    'city',
  ])
  assert.deepEqual(variablesOf(template({ type: 'HEADER', format: 'IMAGE' })), { header: ['1'], body: [] })
})

test('every missing and every invalid value is reported', () => {
  assert.deepEqual(
    refusal(() => checkVariables(order, { body: { '1': 'May' } })),
    ['MISSING_TEMPLATE_VARIABLES', { missing: 'header[1], body[2]' }],
  )
  const [code, details] = refusal(() =>
    checkVariables(order, { header: { '1': 'a\nb' }, body: { '1': ' ', '2': 'a     b', '3': 'x' } }),
  )
  assert.equal(code, 'INVALID_TEMPLATE_VARIABLES')
  assert.equal(
    details?.invalid,
    'header[1] (holds a line break), body[1] (is empty), body[2] (holds more than four spaces in a row), body[3] (the template has no such variable)',
  )
  assert.equal(
    refusal(() => checkVariables(order, { header: { '1': 'a\tb' }, body: { '1': 'a', '2': 'b' } }))[0],
    'INVALID_TEMPLATE_VARIABLES',
  )
  const image = template({ type: 'HEADER', format: 'IMAGE' })
  assert.equal(
    refusal(() => checkVariables(image, { header: { '1': 'no address' } }))[0],
    'INVALID_TEMPLATE_VARIABLES',
  )
})

test('templates whose buttons need values are rejected, others are not', () => {
  const withButton = (type: string, url?: string) =>
    template({ type: 'BUTTONS', buttons: [{ type, text: 'x', ...(url ? { url } : {}) }] })
  for (const bad of [
    withButton('URL', 'https://x.example/{{1}}'),
    withButton('COPY_CODE'),
    withButton('OTP'),
  ])
    assert.equal(refusal(() => checkVariables(bad, {}))[0], 'TEMPLATE_BUTTONS_UNSUPPORTED')
  assert.deepEqual(checkVariables(withButton('URL', 'https://x.example/'), {}), { header: {}, body: {} })
})

test('the rendered text is what the recipient reads', () => {
  const values = checkVariables(order, { header: { '1': 'Ann' }, body: { '1': 'May', '2': '{{1}}' } })
  assert.equal(renderTemplate(order, values), 'Hi Ann\n\nYour {{1}} of May, again {{1}}\n\nShop')
})
