import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contrast, textOn } from './colours.ts'

test('contrast is computed according to WCAG', () => {
  assert.equal(contrast('#000', '#ffffff'), 21)
  assert.equal(contrast('#ffffff', '#fff'), 1)
  assert.equal(Math.round(contrast('#777777', '#ffffff') * 100) / 100, 4.48)
})

test('the text is readable on every colour', () => {
  for (const red of ['00', '44', '88', 'cc', 'ff']) {
    for (const green of ['00', '44', '88', 'cc', 'ff']) {
      for (const blue of ['00', '88', 'ff']) {
        const color = `#${red}${green}${blue}`
        assert.ok(contrast(color, textOn(color)) >= 4.2, color)
      }
    }
  }
})

test('a transparent colour counts as what is behind it', () => {
  assert.equal(textOn('transparent', '#16181d'), '#ffffff')
  assert.equal(textOn('#ffff', '#16181d'), '#111827')
  assert.equal(textOn('#ffffff00', '#16181d'), '#ffffff')
})
