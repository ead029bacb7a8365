const SECONDS = 0.25
const HERTZ = 660

/** A short sound. A browser that has not been clicked in yet plays none. */
export function chime(): void {
  const context = new AudioContext()
  const [tone, volume] = [context.createOscillator(), context.createGain()]
  tone.frequency.value = HERTZ
  volume.gain.setValueAtTime(0.1, context.currentTime)
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + SECONDS)
  tone.connect(volume).connect(context.destination)
  tone.onended = () => void context.close()
  tone.start()
  tone.stop(context.currentTime + SECONDS)
}
