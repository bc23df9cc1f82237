import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import Type from 'typebox'
import { bodyValidator } from '../../platform/http/input/validate.ts'
import { countryCodes } from '../settings/country-codes.ts'
import { channels } from '../settings/settings-schema.ts'
import { defaultStyles, Styles, StylesChange } from '../settings/styles-schema.ts'
import { nameOfCopy } from './clone-agent.ts'
import { CreateAgent, UpdateAgent } from './schema.ts'

/** A value at a path: the last accepted values, and the first rejected ones. */
type Rule = [path: string, good: unknown[], bad: unknown[]]

const text = (length: number): string => 'ä'.repeat(length)
const emails = (count: number): string[] => Array.from({ length: count }, (_, i) => `person${i}@example.com`)
const unit: [unknown[], unknown[]] = [
  [0, 0.5, 1],
  [-0.01, 1.01, '0.5', null],
]
const upTo = (length: number): [unknown[], unknown[]] => [
  ['', text(length)],
  [text(length + 1), 1],
]
const flag: [unknown[], unknown[]] = [
  [true, false],
  ['true', 1],
]
const suggestion = { text: 'Hours?', order: 0 }
const nested = { type: 'nested', name: 'More', order: 1, items: [suggestion] }

const updateRules: Rule[] = [
  ['name', ['x', text(100), '😀'.repeat(100)], ['', '  ', text(101), null, 5]],
  ['instructions', ['', text(50_000)], [text(50_001), null]],
  ['model', ['auto'], ['', null, 7]],
  ['temp', ...unit],
  ['visibility', ['public', 'private'], ['Public', null]],
  ['channelInstructions', [null, {}], ['x', []]],
  ['channelInstructions.api', ['', { chat: 'x' }, { voice: 'x' }, {}], [null, 1, []]],
  ['channelInstructions.api.chat', ['x'], [null, 1]],
  ['allowedDomains', [null, []], ['example.com', Array(101).fill('a.de')]],
  [
    'allowedDomains.0',
    ['example.com', '*.example.com', 'localhost:3000', 'xn--mnchen-3ya.de'],
    ['', 'https://example.com', 'example.com/path', 'a b.de', '-a.de', 'a..de', '*', `${'a'.repeat(64)}.de`],
  ],
  ['suggestedMessages', [null, []], [{}, 'x']],
  ['initialMessages', [[], ['Hello']], [null, 'Hello']],
  ['initialMessages.0', ['Hello'], ['', null]],
  ['creditLimit', [null, 0, 2_147_483_647], [-1, 1.5, 2_147_483_648, '5']],
  ['notificationsSettings', [null, {}], [[], 'x']],
  ['notificationsSettings.dailyConversations', [{ active: true, emails: emails(10) }], [null]],
  ['ipRateLimits', [null, {}], [[], 5]],
  ['ipRateLimits.limit', [1, 200], [0, 201, 1.5, null]],
  ['ipRateLimits.timeframe', [1, 3600], [0, 3601, null]],
  ['ipRateLimits.message', ['x'], ['', null]],
  ['aiNotice', [null, {}], [[], true]],
  ['aiNotice.enabled', [true, false], [null, 'yes']],
  ['aiNotice.text', [null, 'x', text(500)], ['', ' ', text(501)]],
  ['aiNotice.place', ['before', 'after'], [null, 'above']],
  ['spamSettings', [null, { enabled: true, prompt: text(2000) }], [[]]],
  ['blockedCountries', [null, [], Array(300).fill('DE')], ['DE', Array(301).fill('DE')]],
  ['blockedCountries.0', ['DE', 'GB', 'US'], ['de', 'UK', 'XX', 'DEU', 'EU', null]],
  ['voiceSettings', [null, {}], [[], false]],
  ['voiceSettings.voice.voiceName', ['Ada'], ['']],
  ['voiceSettings.voice.speed', [0.7, 1.2], [0.69, 1.21, null]],
  ['voiceSettings.voice.stability', ...unit],
  ['voiceSettings.voice.similarity', ...unit],
  ['voiceSettings.voice.instructions', ...upTo(500)],
  ['voiceSettings.transcriber.minSilenceDuration', [0.1, 3], [0.09, 3.1]],
  ['voiceSettings.transcriber.activationThreshold', ...unit],
  ['voiceSettings.recordings.enabled', ...flag],
  ['voiceSettings.recordings.retentionDays', [0, 30], [-1, 0.5]],
  ['voiceSettings.maxConcurrentSessions', [1, null], [0, 1.5]],
  ['voiceSettings.maxCallDurationSeconds', [1, null], [0]],
  ['voiceSettings.maxDailyCallsPerUser', [1, null], [0]],
  ['voiceSettings.temperature', [0, 1], [1.1]],
  ['voiceSettings.allowInterruptions', ...flag],
  ['voiceSettings.allowTextInput', ...flag],
  ['voiceSettings.endConversationAfterSilenceSeconds', [10, null], [9]],
  ['voiceSettings.initialMessage', ...upTo(500)],
  ['voiceSettings.errorMessage', ...upTo(500)],
]

const colours: [unknown[], unknown[]] = [
  ['transparent', '#fff', '#FFFFFF', '#ffff', '#11223344'],
  ['red', '#ff', '#fffff', 'fff', '#ggg'],
]
const styleRules: Rule[] = [
  ['chat.theme', ['light', 'dark', null], ['Dark']],
  ['chat.headerColor', ...colours],
  ['chat.userMessageColor', ...colours],
  ['chat.buttonColor', ...colours],
  ['chat.displayName', ...upTo(100)],
  ['chat.autoOpenChatWindowAfter', [null, 0, 3.5], [-1, '3']],
  ['chat.mobile.showAutoOpen', ...flag],
  ['chat.mobile.autoOpenChatWindowAfter', [null, { enabled: true, value: 5 }], [-1, 5]],
  ['chat.mobile.autoOpenChatWindowAfter.value', [null, 5], [-1]],
  ['chat.mobile.initialMessages', [null, { enabled: true, value: ['Hi'] }, { enabled: false }], [true]],
  ['centerStage.theme', ['light', 'dark', null], ['Dark']],
  ['centerStage.buttonColor', ...colours],
  ['centerStage.showVoiceMode', ...flag],
  ['centerStage.suggestedMessages', [[], [{ type: 'single', ...suggestion }]], [true]],
  ['chat.alignChatButton', ['left', 'right'], ['center']],
  ['chat.messagePlaceholder', ...upTo(200)],
  ['chat.footer', ...upTo(500)],
  ['chat.dismissableNotice', ...upTo(500)],
  ['chat.showFeedback', ...flag],
  ['centerStage.enabled', ...flag],
  ['centerStage.messagePlaceholder', ...upTo(200)],
  ['centerStage.welcomeMessage', ...upTo(500)],
  ['centerStage.tintedGrayscale.hue', [0, 360], [-1, 361]],
  ['centerStage.tintedGrayscale.tint', [0, 10], [11]],
  ['centerStage.tintedGrayscale.shade', [0, 10], [-1]],
  ['centerStage.accentColor.color', ...colours],
  ['centerStage.customSurfaceColors.background', ...colours],
  ['centerStage.notificationIndicator.number', [0, 99], [-1, 100, 1.5]],
  ['centerStage.notificationMessage.text', ...upTo(200)],
  ['centerStage.typography.fontFamily', ['Inter', 'Georgia'], ['Comic Sans']],
  ['centerStage.typography.fontSize', ['12px', '20px'], ['13px', 12]],
  ['centerStage.width', ['small', 'large'], ['huge']],
]

/** `a.b.0` and a value → `{a: {b: [value]}}`. */
function at(path: string, value: unknown): unknown {
  const [first = '', ...rest] = path.split('.')
  const inner = rest.length === 0 ? value : at(rest.join('.'), value)
  return /^\d+$/.test(first) ? [inner] : { [first]: inner }
}

function follow(schema: TSchema, rules: Rule[]): void {
  const check = bodyValidator(schema)
  for (const [path, good, bad] of rules) {
    test(path, () => {
      for (const value of good) {
        const found = check(at(path, value))
        assert.equal(found[path], undefined, `${JSON.stringify(value)?.slice(0, 60)}: ${found[path]}`)
      }
      for (const value of bad) {
        const found = check(at(path, value))
        const sentence = found[path] ?? found[`${path}.0`] ?? ''
        assert.match(
          sentence,
          /^[A-Z].*\.$/,
          `${JSON.stringify(value)?.slice(0, 60)}: ${JSON.stringify(found)}`,
        )
      }
    })
  }
}

describe('settings: the last valid value passes, the first invalid one is rejected at its path', () =>
  follow(UpdateAgent, updateRules))
describe('styles: the last valid value passes, the first invalid one is rejected at its path', () =>
  follow(StylesChange, styleRules))

const refused = (schema: TSchema, body: unknown): string[] => Object.keys(bodyValidator(schema)(body)).sort()

test('unknown fields are rejected by their path at every depth', () => {
  const bodies: [unknown, string][] = [
    [{ nope: 1 }, 'nope'],
    [{ channelInstructions: { fax: 'x' } }, 'channelInstructions.fax'],
    [{ channelInstructions: { api: { text: 'x' } } }, 'channelInstructions.api.text'],
    [{ suggestedMessages: [{ ...nested, text: 'x' }] }, 'suggestedMessages.0.text'],
    [
      { suggestedMessages: [{ ...nested, items: [{ ...suggestion, x: 1 }] }] },
      'suggestedMessages.0.items.0.x',
    ],
    [{ notificationsSettings: { weekly: {} } }, 'notificationsSettings.weekly'],
    [{ ipRateLimits: { seconds: 1 } }, 'ipRateLimits.seconds'],
    [{ voiceSettings: { pitch: 1 } }, 'voiceSettings.pitch'],
    [{ voiceSettings: { voice: { pitch: 1 } } }, 'voiceSettings.voice.pitch'],
    [{ voiceSettings: { recordings: { days: 1 } } }, 'voiceSettings.recordings.days'],
  ]
  for (const [body, path] of bodies) assert.deepEqual(refused(UpdateAgent, body), [path])
  assert.deepEqual(refused(StylesChange, { chat: { nope: 1, mobile: { nope: 1 } }, side: {} }), [
    'chat.mobile.nope',
    'chat.nope',
    'side',
  ])
})

test('suggested messages need the fields of their kind', () => {
  const one = (message: unknown) => refused(UpdateAgent, { suggestedMessages: [message] })
  const items = (count: number) => ({ ...nested, items: Array(count).fill(suggestion) })
  for (const good of [{ type: 'single', ...suggestion, icon: 'x' }, items(1), items(20)])
    assert.deepEqual(one(good), [])
  assert.deepEqual(one({ type: 'single' }), ['suggestedMessages.0.order', 'suggestedMessages.0.text'])
  assert.deepEqual(one(items(0)), ['suggestedMessages.0.items'])
  assert.deepEqual(one(items(21)), ['suggestedMessages.0.items'])
  assert.deepEqual(one(suggestion), ['suggestedMessages.0.type'])
  assert.deepEqual(one({ ...suggestion, type: 'triple' }), ['suggestedMessages.0.type'])
})

test('there are at most ten notification addresses, each a valid one', () => {
  const daily = (list: string[]) =>
    refused(UpdateAgent, { notificationsSettings: { dailyLeadsCollected: { active: true, emails: list } } })
  assert.deepEqual(daily(emails(10)), [])
  assert.deepEqual(daily(emails(11)), ['notificationsSettings.dailyLeadsCollected.emails'])
  assert.deepEqual(daily(['a@example.com', 'nobody']), ['notificationsSettings.dailyLeadsCollected.emails.1'])
})

test('creation accepts only its own fields, and reports all errors at once', () => {
  assert.deepEqual(refused(CreateAgent, { name: 'x' }), [])
  assert.deepEqual(refused(CreateAgent, {}), ['name'])
  assert.deepEqual(refused(CreateAgent, { url: '', temp: 2, visibility: null, styles: {}, creditLimit: 1 }), [
    'creditLimit',
    'name',
    'styles',
    'temp',
    'url',
    'visibility',
  ])
})

test('every channel and every assigned country is accepted, and the defaults are valid styles', () => {
  const channelInstructions = Object.fromEntries(channels.map((channel) => [channel, 'x']))
  assert.equal(channels.length, 11)
  assert.equal(new Set(countryCodes).size, 249)
  assert.deepEqual(refused(UpdateAgent, { channelInstructions, blockedCountries: [...countryCodes] }), [])
  assert.deepEqual(refused(Type.Object({ styles: Styles }), { styles: defaultStyles }), [])
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  for (const code of countryCodes) assert.ok(names.of(code), code)
})

test('the name of a copy is a valid name, whatever the original name', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
  fc.assert(
    fc.property(name, (original) => {
      const copy = nameOfCopy(original)
      assert.ok(Array.from(copy).length <= 100)
      assert.ok(copy.isWellFormed())
      assert.ok(copy.endsWith(' (copy)'))
    }),
  )
  assert.equal(nameOfCopy('Shop'), 'Shop (copy)')
  assert.equal(nameOfCopy('😀'.repeat(100)), `${'😀'.repeat(93)} (copy)`)
})
