const KEY = 'parley:sound'
const NOTES = [
  [880, 0],
  [1174.66, 0.12],
] as const
const SECONDS = 0.4

export const isSoundOn = (): boolean => localStorage.getItem(KEY) !== 'off'
export const turnSound = (on: boolean): void => localStorage.setItem(KEY, on ? 'on' : 'off')

let context: AudioContext | null = null

/** Plays two short notes, unless sound is off. Browsers play nothing before the user has clicked somewhere. */
export function chime(): void {
  if (!isSoundOn()) return
  context ??= new AudioContext()
  void context.resume().catch(() => {})
  for (const [frequency, after] of NOTES) {
    const tone = context.createOscillator()
    const volume = context.createGain()
    const start = context.currentTime + after
    tone.frequency.value = frequency
    volume.gain.setValueAtTime(0.12, start)
    volume.gain.exponentialRampToValueAtTime(0.0001, start + SECONDS)
    tone.connect(volume).connect(context.destination)
    tone.start(start)
    tone.stop(start + SECONDS)
  }
}
