/**
 * A module for `node --import`. On SIGUSR2, the clock of this process jumps by SHIFT_CLOCK_MS, as when a machine's
 * time is set. As in that case, timers and `performance.now()` are not affected.
 */
const shift = Number(process.env.SHIFT_CLOCK_MS)
const RealDate = Date
let offset = 0

process.on('SIGUSR2', () => {
  offset += shift
})

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(RealDate.now() + offset).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + offset] : args, newTarget),
  get: (target, name, receiver) =>
    name === 'now' ? () => RealDate.now() + offset : Reflect.get(target, name, receiver),
})
