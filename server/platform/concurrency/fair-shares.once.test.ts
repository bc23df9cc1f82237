import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createFairPlaces, createMainThreadScheduler, PlacesFull } from './fair-shares.ts'

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
