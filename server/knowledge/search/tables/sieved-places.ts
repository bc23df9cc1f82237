/**
 * Maps numbers to positions. Thousands of numbers are looked up, and hardly any is present. The sieve rejects most of
 * the others: it is 0 unless a present number has the same last bits.
 */
export type SievedPlaces = { readonly sieve: Uint8Array; readonly places: Map<number, number[]> }

const LAST_BITS = 4_095
const NOWHERE: readonly number[] = []

export function createSievedPlaces(): SievedPlaces {
  return { sieve: new Uint8Array(LAST_BITS + 1), places: new Map() }
}

export function addPlace({ sieve, places }: SievedPlaces, number: number, place: number): void {
  sieve[number & LAST_BITS] = 1
  const there = places.get(number)
  if (there) there.push(place)
  else places.set(number, [place])
}

export function placesOf({ sieve, places }: SievedPlaces, number: number): readonly number[] {
  return sieve[number & LAST_BITS] === 0 ? NOWHERE : (places.get(number) ?? NOWHERE)
}
