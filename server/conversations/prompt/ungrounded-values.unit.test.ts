import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ungroundedValues } from './ungrounded-values.ts'

const marked = (answer: string, given: string): string[] =>
  ungroundedValues(answer, () => given).map(({ kind, text }) => `${kind} ${text}`)

test('the same value in another format is given', () => {
  const same: [string, string][] = [
    ['It costs $1,299.00.', 'Prix : 1 299 $'],
    ['Das sind 1.299,50 €.', '1,299.50 EUR'],
    ['It ends on 24 December 2025.', 'bis 24.12.2025'],
    ['Am 3. März öffnen wir.', 'We open on March 3rd.'],
    ['11月22日に開催します。', '2026-11-22'],
    ['De 15 h 30 à 18 h.', '3:30 pm to 6 pm'],
    ['المبلغ ٤٢٠ ريالاً', '420 QAR'],
    ['Rund 5 Millionen Menschen', '5,000,000 people'],
    ['1万5000円です', '15,000円'],
    ['Call +44 (0)114 496-0182.', 'Tel. 44 0114 4960182'],
    ['Write to Help@Shop.example.', 'help@shop.example'],
    ['See https://www.shop.example/returns/.', 'shop.example/returns'],
    ['Your order totals £125.50.', '{"total": 12550}'],
    ['1. Open it.\n2. Press 4 seconds [1].', 'press for 4 seconds'],
    ['A discount of 15% to 30%.', 'entre el 15 y el 30 %'],
    ['Sauna ma 95 stopni i 10 % wilgotności.', '95 °C | 10%'],
    ['Onder 60.000 euro is de rente 0 %.', 'onder € 60.000 is de rente 0%'],
    ['Bel 0570 550138 of +31 570 550138.', '0570 – 55 01 38'],
    ['Ring 030 1234567.', '+49 30 1234567'],
    ['Od 29.06 do 7.07.', 'od 29 czerwca do 7 lipca'],
    ['Od 29 czerwca.', 'od 29.06 do 7.07'],
    ['Le kilomètre coûte 22 centimes.', '0,22 € par kilomètre'],
    ['Hafta içi 10.00–16.00 arasında.', 'hafta içi 10-16'],
    ['Etwa 29.000 - 24.000 Stück (2.700.000 im Jahr).', '29,000–24,000; 2,700,000'],
    ['월 2만 5천 원입니다.', '월 25,000원'],
    ['Sunt 390 de miliarde de arbori.', '390 billion trees'],
    ['In den 1980ern.', 'in the late 1980s'],
    ['Кабель має довжину 180 см.', 'Кабель 1,8 м'],
    ['Gælder i 3 år.', '36 måneder'],
  ]
  for (const [answer, given] of same) assert.deepEqual(marked(answer, given), [], answer)
})

test('another value is marked', () => {
  const others: [string, string, string[]][] = [
    ['It costs 1.399 €.', '1.299 €', ['number 1.399']],
    ['Am 4. März.', 'March 3', ['date 4. März']],
    ['At 16:30.', '16:15', ['time 16:30']],
    ['Call 0114 496 0182.', '0114 496 0128', ['phone 0114 496 0182']],
    ['Write to sales@shop.example.', 'help@shop.example', ['email sales@shop.example']],
    ['See https://evil.example/x.', 'https://shop.example/x', ['url https://evil.example/x']],
    ['Call +39 349 555 0188.', '349 555 0198', ['phone +39 349 555 0188']],
    ['You pay 22 €.', '0.22 € a kilometre', ['number 22']],
    ['You pay 20 %.', 'It takes 20 days.', ['number 20']],
    ['월 2만 5천 원입니다.', '월 26,000원', ['number 2']],
    ['The cable is 190 cm long.', 'It has a cable of 1.8 m.', ['number 190']],
    ['It takes 3 years.', 'It takes 3 months.', ['number 3']],
    ['It takes 30 days.', 'It takes 30 minutes.', ['number 30']],
  ]
  for (const [answer, given, values] of others) assert.deepEqual(marked(answer, given), values, answer)
})

test('a text without values needs nothing that was given', () => {
  const given = (): string => assert.fail('nothing has to be read')
  assert.deepEqual(ungroundedValues('I do not know that.', given), [])
})
