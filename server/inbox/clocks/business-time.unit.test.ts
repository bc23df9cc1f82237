import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BusinessHours } from '../../platform/db/tables/helpdesk.ts'
import { businessTime } from './business-time.ts'
import { isTimeZone, openZone } from './time-zone.ts'

const at = (text: string): number => Date.parse(text)
const HOUR = 3_600_000
const office = (timeZone: string, holidays: string[] = []): BusinessHours => {
  const day = [
    { from: '09:00', to: '12:00' },
    { from: '13:00', to: '17:00' },
  ]
  const days = { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day }
  return { timeZone, days, holidays }
}

test('breaks, nights, weekends and holidays do not count', () => {
  const time = businessTime(office('Europe/Berlin', ['2026-12-25']))
  // Thursday, 16:00 in Berlin; Friday is a holiday.
  assert.equal(time.add(at('2026-12-24T15:00:00Z'), 2 * HOUR), at('2026-12-28T09:00:00Z'))
  assert.equal(time.add(at('2026-12-26T10:00:00Z'), 4 * HOUR), at('2026-12-28T13:00:00Z'))
  assert.equal(time.between(at('2026-12-24T00:00:00Z'), at('2026-12-29T00:00:00Z')), 14 * HOUR)
  assert.equal(time.between(at('2026-12-29T00:00:00Z'), at('2026-12-24T00:00:00Z')), -14 * HOUR)
})

test('on days of a clock change, hours remain hours of local time', () => {
  const days = { sunday: [{ from: '00:00', to: '24:00' }] }
  const sundays = businessTime({ timeZone: 'Europe/Berlin', days, holidays: [] })
  const lengths = ['2026-03-29', '2026-10-25', '2026-07-05'].map((day) =>
    sundays.between(at(`${day}T00:00:00Z`) - 12 * HOUR, at(`${day}T00:00:00Z`) + 36 * HOUR),
  )
  assert.deepEqual(
    lengths.map((length) => length / HOUR),
    [23, 25, 24],
  )
  const night = { sunday: [{ from: '02:15', to: '02:45' }] }
  const nights = businessTime({ timeZone: 'Europe/Berlin', days: night, holidays: [] })
  const around = (day: string) => nights.between(at(`${day}T00:00:00Z`) - HOUR, at(`${day}T06:00:00Z`))
  assert.equal(around('2026-03-29'), 0, 'left out')
  assert.equal(around('2026-10-25'), HOUR / 2, 'given twice')
})

test('places with unusual time zones', () => {
  const zones = [
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'Asia/Kathmandu',
    'America/Sao_Paulo',
    'Africa/Cairo',
    'UTC',
  ]
  for (const name of zones) {
    const zone = openZone(name)
    for (let day = zone.dayOf(at('2026-01-01T00:00:00Z')); day < 20_900; day++) {
      const start = zone.at(day, 0)
      assert.ok(zone.dayOf(start) === day && zone.dayOf(start - 1) === day - 1, `${name} ${day}`)
    }
  }
  assert.deepEqual([isTimeZone('Europe/Berlin'), isTimeZone('Mars/Base')], [true, false])
})

const times = fc.integer({ min: at('2025-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') })
const clock = fc.integer({ min: 0, max: 24 * 4 })
const openings = fc.array(
  fc
    .tuple(clock, clock)
    .filter(([from, to]) => from < to)
    .map(([from, to]) => ({ from: text(from), to: text(to) })),
  { maxLength: 3 },
)
const text = (quarters: number): string =>
  `${String(Math.floor(quarters / 4)).padStart(2, '0')}:${String((quarters % 4) * 15).padStart(2, '0')}`
const hours = fc.record({
  timeZone: fc.constantFrom(
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'UTC',
    'America/Santiago',
  ),
  days: fc.record({
    monday: openings.filter((day) => day.length > 0),
    wednesday: openings,
    saturday: openings,
    sunday: openings,
  }),
  holidays: fc.array(fc.constantFrom('2026-01-05', '2026-10-25', '2027-03-28', '2028-11-05'), {
    maxLength: 4,
  }),
})

test('adding and measuring agree; sums and order hold', () => {
  fc.assert(
    fc.property(
      hours,
      times,
      fc.integer({ min: 1, max: 200 * HOUR }),
      fc.integer({ min: 1, max: 50 * HOUR }),
      (set, from, one, two) => {
        const time = businessTime(set as BusinessHours)
        const due = time.add(from, one)
        assert.equal(time.between(from, due), one)
        assert.equal(time.add(due, two), time.add(from, one + two))
        assert.ok(due >= from + one && time.add(from + 1_000, one) >= due)
        const middle = from + Math.floor((due - from) / 2)
        assert.equal(time.between(from, middle) + time.between(middle, due), one)
        assert.equal(time.between(due, from), -one)
      },
    ),
    { numRuns: 150 },
  )
})

test('round-the-clock hours are plain time, even across clock changes', () => {
  const whole = [{ from: '00:00', to: '24:00' }]
  const days = {
    monday: whole,
    tuesday: whole,
    wednesday: whole,
    thursday: whole,
    friday: whole,
    saturday: whole,
    sunday: whole,
  }
  fc.assert(
    fc.property(
      fc.constantFrom('Europe/Berlin', 'America/New_York', 'Pacific/Chatham'),
      times,
      fc.integer({ min: 0, max: 900 * HOUR }),
      (timeZone, from, length) => {
        const time = businessTime({ timeZone, days, holidays: [] })
        assert.equal(time.add(from, length), from + length)
        assert.equal(time.between(from, from + length), length)
      },
    ),
    { numRuns: 60 },
  )
})
