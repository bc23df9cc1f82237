import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { until } from '../../../test/until.ts'
import { createFairPlaces, PlacesFull } from './fair-places.ts'
import { createMainThreadScheduler } from './main-thread-scheduler.ts'

test('a free place goes to the holder with the fewest', async () => {
  const { enter } = createFairPlaces({ places: 2 })
  const order: string[] = []
  const leaves: (() => void)[] = []
  const ask = (tenant: string) =>
    enter(tenant).then((leave) => {
      order.push(tenant)
      leaves.push(leave)
    })
  const all = ['a', 'a', 'a', 'a', 'a', 'b', 'c', 'b'].map(ask)
  await Promise.all(all.slice(0, 2))
  for (let served = 0; served < all.length; served++) {
    await setImmediate()
    leaves.shift()?.()
  }
  await Promise.all(all)
  assert.deepEqual(order, ['a', 'a', 'b', 'a', 'c', 'b', 'a', 'a'])
})

test('no holder exceeds its share, and a holder that gives up leaves the queue', async () => {
  const { enter } = createFairPlaces({ places: 3, share: 2, maxWaiting: 1 })
  const [leave] = await Promise.all([enter('a'), enter('a')])
  const giving = new AbortController()
  const third = enter('a', giving.signal)
  await assert.rejects(enter('a'), PlacesFull)
  const leaveB = await enter('b')
  giving.abort(new Error('given up'))
  await assert.rejects(third, /given up/)
  const fourth = enter('a')
  leave?.()
  leave?.()
  leaveB()
  const leaveFourth = await fourth
  leaveFourth()
  await Promise.all([enter('b'), enter('b')])
})

test('a holder with a lower limit waits for its own places, while others are served', async () => {
  const { enter } = createFairPlaces({ places: 3 })
  const leave = await enter('a', undefined, 1)
  let waits = true
  const second = enter('a', undefined, 1).then((left) => {
    waits = false
    return left
  })
  const others = [await enter('b', undefined, 2), await enter('b', undefined, 2)]
  assert.ok(waits)
  leave()
  const leaveSecond = await second
  for (const each of [leaveSecond, ...others]) each()
})

test('bulky work of one holder lets others pass after each portion', async () => {
  const turns = createMainThreadScheduler(100)
  const order: string[] = []
  const work = async (tenant: string, weight: number) => {
    await turns.take(tenant, weight)
    order.push(tenant)
  }
  const bulk = Array.from({ length: 6 }, () => work('bulk', 100))
  const other = [work('other', 10), work('other', 10)]
  let looks = 0
  for (; order.length < 8; looks++) await setImmediate()
  await Promise.all([...bulk, ...other])
  assert.ok(order.lastIndexOf('other') < 5, order.join())
  assert.ok(looks >= 5, `the network was looked at ${looks} times`)
})

function busyTurns() {
  const state = { clock: 0, isBusy: true }
  const turns = createMainThreadScheduler(
    32,
    () => state.clock,
    () => state.isBusy,
  )
  return { turns, state }
}

test('a flood of one holder pauses after each portion, but only while others are active and the thread is busy', async () => {
  const { turns, state } = busyTurns()
  let served = 0
  const flood = Array.from({ length: 200 }, () => turns.take('flood', 32)?.then(() => served++))
  const look = async () => {
    for (let i = 0; i < 20; i++) await setImmediate()
    return served
  }
  assert.ok((await look()) > 5)
  await turns.take('other', 1)
  const before = await look()
  assert.equal(await look(), before)
  assert.equal(turns.take('other', 1), undefined)
  // A portion of this weight takes 0.8 ms, so the pause lasts 12.8 ms.
  state.clock += 12
  assert.equal(await look(), before)
  state.clock += 1
  await until('the next portion', () => served === before + 1)
  assert.equal(await look(), before + 1)
  state.clock += 13
  state.isBusy = false
  await until('several portions', () => served > before + 5)
  state.clock += 250
  await Promise.all(flood)
})

test('work that gives way starts at once for a holder that is alone, and pauses the holder otherwise', async () => {
  const { turns, state } = busyTurns()
  for (let i = 0; i < 100; i++) assert.equal(turns.yieldTurn('a', 128), undefined)
  await turns.take('b', 1)
  await setImmediate()
  await turns.yieldTurn('a', 128)
  let waits = true
  const second = turns.yieldTurn('a', 128)?.then(() => {
    waits = false
  })
  for (let i = 0; i < 20; i++) await setImmediate()
  assert.ok(waits)
  assert.equal(turns.take('b', 1), undefined)
  state.clock += 52
  state.isBusy = false
  await second
  assert.ok(!waits)
  await turns.yieldTurn('a', 128)
})
